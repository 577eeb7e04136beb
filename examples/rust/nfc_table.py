"""Write src/nfc.txt, what the normal form C of Unicode needs: `python nfc_table.py > src/nfc.txt`.

Lines `CODE FIRST [SECOND]` are canonical decompositions, with `!` at the end where the letter is not composed again;
lines `FROM-TO CLASS` are combining classes above 0. All numbers are in hex, but for the classes. What a letter of one
version of Unicode is composed of never changes; later versions add letters.
"""

import sys
import unicodedata
from itertools import groupby


def lines():
    """Yield the lines of the table."""
    yield f"# Unicode {unicodedata.unidata_version}, (c) Unicode, Inc., Unicode Licence V3: unicode.org/license.txt"
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for code in codes:
        parts = unicodedata.decomposition(chr(code))
        if parts and not parts.startswith("<"):
            composed = unicodedata.normalize("NFC", chr(code)) == chr(code)
            yield f"{code:X} " + " ".join(f"{int(part, 16):X}" for part in parts.split()) + ("" if composed else " !")
    marks = [(code, unicodedata.combining(chr(code))) for code in codes if unicodedata.combining(chr(code))]
    for (_, kind), run in groupby(enumerate(marks), lambda pair: (pair[1][0] - pair[0], pair[1][1])):
        places = [code for _, (code, _) in run]
        yield f"{places[0]:X}-{places[-1]:X} {kind}"


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in lines()))
