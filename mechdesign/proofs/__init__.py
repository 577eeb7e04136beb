"""The guarantee of a mechanism file as a theorem that Coq checks, from the definitions in ``coq/Spec.v``.

Python writes the theorem and reads what Coq prints; nothing here is trusted but what turns a file into a term, and for
this Coq prints its term back (`mechdesign.proofs.read_back`).
"""
