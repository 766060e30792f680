"""Reports: what runs came to, in one file that opens with no network and says how everything in it was made.

Reads run folders and the catalogue, and nothing that trains or draws a scene; a montage in it is made by the command
that makes any other.
"""
