"""The guarantee of a mechanism file as a theorem that Coq checks, from the definitions in ``coq/Spec.v``.

Python writes the theorem and reads what Coq prints; nothing here is trusted but what turns a file into a term, and for
this Coq prints its term back (`mechdesign.proofs.read_back`). A module for each of these steps.
"""

from mechdesign.proofs.certificate import certificate
from mechdesign.proofs.kernel import Refusal, Verdict, ask_coq, refusals
from mechdesign.proofs.read_back import from_coq, from_file

__all__ = ["Refusal", "Verdict", "ask_coq", "certificate", "from_coq", "from_file", "refusals"]


def __dir__() -> list[str]:
    return __all__
