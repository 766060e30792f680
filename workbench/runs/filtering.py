"""The filter language of runs: one parser for the app and the command line.

Terms are ANDed. `or` joins the two terms beside it, so `ant or cheetah algo:sac` is `(ant or cheetah) algo:sac`;
parentheses group, `not` and a minus turn a term round. What a term can be is told by `filter_fields`. A comparison
with what is not known is false, and so is `has:` of it; turned round it is true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import translate
from typing import TYPE_CHECKING, NoReturn

from workbench.errors import RequestError
from workbench.runs.filter_fields import (
    ACCEPTS,
    EXAMPLES,
    FIELDS,
    STATE_GROUPS,
    SYNTAX,
    UNKNOWN_RULE,
    FilterField,
    field_named,
    nearest_field,
    read_quantity,
)
from workbench.runs.states import RunState
from workbench.suggest import nearest_one

if TYPE_CHECKING:
    from workbench.runs.summary import RunSummary

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FIELD = re.compile(r"(?P<name>~?[A-Za-z_][\w./~-]*)(?P<operator>:|\s*(?:!=|<=|>=|=|<|>)\s*)")
_OPERATOR = re.compile(r":|\s*(?:!=|<=|>=|=|<|>)\s*")
_WORD = re.compile(r"[^\s()]+")
_DEEPEST = 50

Test = Callable[["RunSummary"], bool]


class FilterError(RequestError):
    """A filter with a term that cannot be read.

    Args:
        message: What is wrong with the term.
        start: Where the term begins in the text.
        end: Where it ends.
        nearest: The field or value it resembles.
        hint: What to type instead.
    """

    title = "This filter cannot be read"

    def __init__(self, message: str, start: int, end: int, *, nearest: str | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint or (f"Did you mean {nearest}?" if nearest else ""))
        self.start = start
        self.end = end
        self.nearest = nearest


@dataclass(frozen=True)
class Filter:
    """Which runs a person wants to see; the empty one lets every run through."""

    text: str = ""
    needs: frozenset[str] = frozenset()
    """Fields of the spec and metrics that rows must carry in `values` for it to see them."""
    _test: Test | None = field(default=None, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Return the filter that `text` describes.

        Raises:
            FilterError: A term cannot be read; it says which and what to type instead.
        """
        return _Parser(text).filter()

    def matches(self, row: RunSummary) -> bool:
        """Return whether a run is to be seen."""
        return self._test is None or self._test(row)

    def __bool__(self) -> bool:
        return self._test is not None


def filter_help(width: int = 100) -> str:
    """Return the page that explains the language, for a terminal: forms of a term, fields, examples."""
    pad = max(len(left) for left, _ in (*SYNTAX, *EXAMPLES))
    lines = ["filter:", *(f"  {left:<{pad}}  {right}" for left, right in SYNTAX), "", "fields:"]
    lines += [f"  {item.name:<{pad}}  {item.help}" for item in FIELDS]
    lines += [
        f"  {'ppo.gamma, n_envs, …':<{pad}}  any field of the spec, as --set names it",
        f"  {'eval/mean_return, …':<{pad}}  any metric: its newest value",
        "",
        "examples (quoted in a shell):",
        *(f"  {left:<{pad}}  {right}" for left, right in EXAMPLES),
        "",
        *_wrapped(UNKNOWN_RULE, width),
    ]
    return "\n".join(lines)


class _Parser:
    """Reads one filter from its first sign to its last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._open = 0
        self._needs: set[str] = set()

    def filter(self) -> Filter:
        test = self._all()
        if self._at < len(self._text):
            self._fail("there is a `)` without its `(`.", self._at, self._at + 1)
        return Filter(self._text, frozenset(self._needs), test)

    def _all(self) -> Test | None:
        tests: list[Test] = []
        while (test := self._any()) is not None:
            tests.append(test)
        if len(tests) < 2:
            return tests[0] if tests else None
        return lambda row: all(test(row) for test in tests)

    def _any(self) -> Test | None:
        self._skip_word("and")
        begin = self._at
        if (end := self._skip_word("or")) is not None:
            self._fail("`or` needs a term before it.", begin, end)
        first = self._term()
        if first is None:
            return None
        tests = [first]
        while (end := self._skip_word("or")) is not None:
            following = self._term()
            if following is None:
                self._fail("`or` needs a term after it.", end - 2, end)
            tests.append(following)
        return first if len(tests) == 1 else lambda row: any(test(row) for test in tests)

    def _term(self) -> Test | None:
        """Read one term with what turns it round; None where there is none any more."""
        self._skip_space()
        begin = self._at
        is_not = (end := self._skip_word("not")) is not None
        if not is_not and self._peek() == "-":
            self._at, is_not, end = begin + 1, True, begin + 1
        if is_not:
            self._go_deeper(begin)
            is_alone = self._text[begin:end] == "-" and not self._peek().strip()
            inner = None if is_alone else self._term()
            self._depth -= 1
            if inner is None:
                self._fail(f"`{self._text[begin:end]}` needs a term after it.", begin, end or begin)
            return _not(inner)
        if self._peek() == "(":
            return self._group(begin)
        if self._peek() in ("", ")"):
            return None
        if self._skip_word("or") is not None or self._skip_word("and") is not None:
            self._at = begin
            return None
        return self._simple()

    def _group(self, begin: int) -> Test:
        self._at += 1
        self._go_deeper(begin)
        self._open += 1
        inner = self._all()
        self._open -= 1
        self._depth -= 1
        self._skip_space()
        if self._peek() != ")":
            self._fail("a `(` has no `)`.", begin, len(self._text))
        self._at += 1
        if inner is None:
            self._fail("there is nothing between ( and ).", begin, self._at)
        return inner

    def _simple(self) -> Test:
        """Read a bare word, or a field with what is asked of it."""
        begin = self._at
        named = _FIELD.match(self._text, begin)
        if named is not None:
            self._at = named.end()
            return self._of_field(named["name"], named["operator"].strip(), begin)
        if self._peek() in ("'", '"'):
            word = self._quoted()
            asked = _OPERATOR.match(self._text, self._at)
            if asked is not None:
                self._at = asked.end()
                return self._of_field(word, asked[0].strip(), begin)
            self._end_of_value(begin)
            return _bare(re.compile(re.escape(word.lower())))
        if self._peek() == "/" and (pattern := self._regex()) is not None:
            return _bare(pattern)
        word = self._word()
        if _OPERATOR.match(word):
            self._fail(f"`{word}` needs a field before it, as in return>5k.", begin, self._at)
        return _bare(_glob(word.lower(), whole=False))

    def _of_field(self, name: str, asked: str, begin: int) -> Test:
        value_at = self._at
        pattern: re.Pattern[str] | None = None
        if asked in (":", "=", "!=") and self._peek() == "/":
            pattern = self._regex()
            if pattern is None:
                hint = "What begins with a slash is a regular expression and ends with another; else quote it."
                self._fail(f"`{self._text[value_at:]}` has no slash at its end.", begin, len(self._text), hint=hint)
            self._end_of_value(begin)
        value = "" if pattern else self._quoted() if self._peek() in ("'", '"') else self._word()
        if pattern is None:
            if not value:
                hint = f"has:{name} finds runs that have one." if asked == ":" and name != "has" else ""
                self._fail(f"`{name}{asked}` needs a value.", begin, max(self._at, begin + 1), hint=hint)
            self._end_of_value(begin)
        if name.lower() == "has" and asked == ":" and pattern is None:
            return self._field(value, value_at, self._at).is_there
        found = self._field(name, begin, begin + len(name))
        if pattern is not None:
            search = pattern.search
            return _negated(asked, lambda row: any(search(text) for text in found.texts(row)))
        return self._compared(found, asked, value, begin)

    def _field(self, name: str, begin: int, end: int) -> FilterField:
        found = field_named(name)
        if found is None:
            near = nearest_field(name)
            listed = ", ".join(item.name for item in FIELDS)
            hint = "" if near else f"There are {listed}, fields of the spec, and metrics."
            self._fail(f"`{name}` is not a field of a run.", begin, end, nearest=near, hint=hint)
        if found.kind == "any":
            self._needs.add(found.name)
        return found

    def _compared(self, found: FilterField, asked: str, value: str, begin: int) -> Test:
        if found.kind == "state":
            return self._of_state(asked, value, begin)
        number = None if found.kind == "text" else read_quantity(value, found.kind)
        if number is not None:
            compare, wanted = _COMPARISONS["=" if asked == ":" else asked], number

            def is_met(row: RunSummary) -> bool:
                known = found.number(row)
                return known is not None and compare(known, wanted)

            return is_met
        is_pattern = found.kind == "any" or any(sign in value for sign in "*?")
        if asked in ("<", "<=", ">", ">="):
            if found.kind == "text":
                self._fail(f"{found.name} is text: it has no {asked}.", begin, self._at, hint=f"Write {found.name}:*…*")
            self._refuse_number(found, value, begin)
        if found.kind in ("number", "share", "span") and not (asked == ":" and is_pattern):
            self._refuse_number(found, value, begin)
        glob = _glob(value.lower(), whole=True)
        return _negated(asked, lambda row: any(glob.fullmatch(text.lower()) for text in found.texts(row)))

    def _refuse_number(self, found: FilterField, value: str, begin: int) -> NoReturn:
        near = value[:-1] + "M" if found.kind == "number" and re.fullmatch(r"[\d.]+m", value) else None
        hint = f"m is minutes; did you mean {near}?" if near else ""
        message = f"{found.name} takes {ACCEPTS[found.kind]}, not `{value}`."
        self._fail(message, begin, self._at, nearest=near, hint=hint)

    def _of_state(self, asked: str, value: str, begin: int) -> Test:
        if asked not in (":", "=", "!="):
            self._fail(f"a state has no {asked}.", begin, self._at, hint=f"Write state:{value}")
        group = STATE_GROUPS.get(value.lower())
        if group is not None:
            return _negated(asked, lambda row: group(row.state))
        glob = _glob(value.lower(), whole=True)
        if not any(glob.fullmatch(state) for state in RunState):
            known = [*STATE_GROUPS, *map(str, RunState)]
            near = nearest_one(value, known)
            hint = "" if near else f"There are {', '.join(known)}."
            self._fail(f"`{value}` is not a state of a run.", begin, self._at, nearest=near, hint=hint)
        return _negated(asked, lambda row: glob.fullmatch(row.state) is not None)

    # Signs.

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self._at += 1

    def _skip_word(self, word: str) -> int | None:
        """Step over a word of the language and return where it ends; None where something else stands there."""
        self._skip_space()
        end = self._at + len(word)
        if self._text[self._at : end].lower() != word or not (
            end == len(self._text) or self._text[end].isspace() or self._text[end] in "()"
        ):
            return None
        self._at = end
        return end

    def _word(self) -> str:
        # A parenthesis ends a word only where one is open: `note:(old)` may be typed as it is.
        match = _WORD.match(self._text, self._at) if self._open else re.compile(r"\S+").match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match[0]

    def _quoted(self) -> str:
        begin, quote = self._at, self._peek()
        self._at += 1
        found: list[str] = []
        while (sign := self._peek()) != quote:
            if sign == "\\" and self._text[self._at + 1 : self._at + 2] in (quote, "\\"):
                self._at += 1
                sign = self._peek()
            if not sign:
                self._fail(f"a quote {quote} has no end.", begin, len(self._text))
            found.append(sign)
            self._at += 1
        self._at += 1
        return "".join(found)

    def _regex(self) -> re.Pattern[str] | None:
        match = re.compile(r"/((?:[^/\\]|\\.)+)/").match(self._text, self._at)
        if match is None:
            return None
        begin, self._at = self._at, match.end()
        try:
            return re.compile(match[1].replace("\\/", "/"), re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            self._fail(f"`{match[0]}` is no regular expression: {error}.", begin, self._at)

    def _end_of_value(self, begin: int) -> None:
        rest = self._peek()
        if rest and not rest.isspace() and not (rest == ")" and self._open):
            self._word()
            hint = "Put quotes around the whole value."
            term = self._text[begin : self._at]
            self._fail(f"`{term}` goes on where its value has ended.", begin, self._at, hint=hint)

    def _go_deeper(self, begin: int) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("the filter is nested too deeply.", begin, len(self._text))

    def _fail(self, message: str, start: int, end: int, *, nearest: str | None = None, hint: str = "") -> NoReturn:
        raise FilterError(message, start, end, nearest=nearest, hint=hint)


def _bare(pattern: re.Pattern[str]) -> Test:
    def is_met(row: RunSummary) -> bool:
        texts = (row.env_name, row.env_id, row.name, row.note, *row.tags)
        return any(pattern.search(text.lower()) for text in texts)

    return is_met


def _negated(asked: str, test: Test) -> Test:
    return _not(test) if asked == "!=" else test


def _not(test: Test) -> Test:
    return lambda row: not test(row)


def _glob(pattern: str, *, whole: bool) -> re.Pattern[str]:
    if whole:
        return re.compile(translate(pattern))
    parts = [".*" if sign == "*" else "." if sign == "?" else re.escape(sign) for sign in pattern]
    return re.compile("".join(parts), re.DOTALL)


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(20, width))
