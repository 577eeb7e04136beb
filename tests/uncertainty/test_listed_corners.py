from extreme_priors import extreme_priors
from hypothesis import given, settings
from repetitions import examples
from strategies import balls

import mechdesign as md
from mechdesign.uncertainty.listed_corners import listed_corners


@settings(max_examples=examples(40), deadline=None)
@given(balls(most=4))
def test_every_corner_of_a_ball_is_listed_and_nothing_outside_of_it(ball):
    found = listed_corners(None, ball)
    assert extreme_priors(ball) <= set(found)
    assert all(ball.contains(Q) for Q in found)


def test_hulls_list_their_priors_once_and_large_balls_none():
    hull = md.ConvexHull([[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]])
    assert len(listed_corners(hull, None)) == 2
    assert listed_corners(None, md.L1Ball([1 / 200] * 200, "0.1")) == []
    assert listed_corners(None, None) == []
