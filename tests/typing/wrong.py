"""What type checkers must refuse: if one of these lines passed, the names of the package would have no types."""

import mechdesign as md

design = md.design("a text")  # type: ignore[arg-type]
absent = design.no_such_attribute  # type: ignore[attr-defined]
md.histogram.gshm_delta("k", 1.0, 10.0, 1.0)  # type: ignore[arg-type]
md.planning.plan("categories")  # type: ignore[arg-type]
moved = md.plan  # type: ignore[attr-defined]
design.mechanism.to_frame(1)  # type: ignore[arg-type]
md.plot.matrix(design)  # type: ignore[arg-type]
no_radius = md.DesignProblem(md.ConvexHull([[0.5, 0.5]]), 1).uncertainty.radius  # type: ignore[attr-defined]
