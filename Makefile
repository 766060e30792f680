# `make run` and `make test` set everything up on a fresh machine; the rest is for those who work on workbench.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# What Polyscope loads: libX11 always, EGL and Mesa for pictures without a display, the rest for a window.
GL_PACKAGES := libegl1 libegl-mesa0 libgl1 libglx-mesa0 libgl1-mesa-dri libopengl0 \
	libx11-6 libxrandr2 libxinerama1 libxcursor1 libxi6
GL_LIBRARIES := libEGL.so.1 libEGL_mesa.so.0 libGL.so.1 libOpenGL.so.0 libX11.so.6 libXrandr.so.2 libXinerama.so.1 \
	libXcursor.so.1 libXi.so.6

.DEFAULT_GOAL := help
.PHONY: help setup gl run test check test-long lint demo

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: gl $(STAMP) ## install everything into .venv; does nothing where nothing is missing

run: setup ## open the app
	@$(BIN)/workbench

test: setup lint ## check the code and run every test
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

check: setup lint ## check the code and run the quick tests
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'not slow and not long'

test-long: setup ## run the tests that take an hour: runs that are killed again and again
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m long

lint: $(STAMP)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache | tail -n 3

demo: setup ## train cart_pole to its threshold, film it and make a montage; needs no display
	@$(BIN)/python benchmarks/demo.py

$(STAMP): pyproject.toml constraints.txt hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "workbench needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ echo "Python cannot make a virtual environment here. On Debian: apt-get install -y python3-venv"; exit 1; }
	@echo "Installing workbench and its libraries into $(VENV): a few minutes the first time."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

# Asks the loader, not the package manager: the libraries may come from anywhere.
gl:
	@[ "$$(uname -s)" = Linux ] || exit 0; \
	known=$$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null ); missing=; \
	for library in $(GL_LIBRARIES); do \
		case "$$known" in *"$$library "*) ;; *) missing="$$missing $$library";; esac; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	if command -v apt-get >/dev/null && { [ -z "$$sudo" ] || sudo -n true 2>/dev/null; }; then \
		echo "Installing the system GL libraries:$$missing"; \
		if $$sudo apt-get update -qq >/dev/null 2>&1; $$sudo env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $(GL_PACKAGES) >/dev/null; then exit 0; fi; \
	fi; \
	echo "These system libraries, which draw the pictures, are missing:$$missing"; \
	echo "On Debian and Ubuntu this installs them:"; \
	echo "  sudo apt-get install -y $(GL_PACKAGES)"; \
	echo "Without them training and the app work; the viewer and recordings do not."
