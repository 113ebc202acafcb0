from featprop.web.common.palette import DIGITS, css_variables, use_css_variables


def test_colours_for_light_and_dark() -> None:
    assert css_variables().count("--digit-7:") == 2
    assert use_css_variables(f"fill: {DIGITS[7].light}") == "fill: var(--digit-7)"
    assert len({colour.light for colour in DIGITS}) == len({colour.dark for colour in DIGITS}) == 10
