"""Elements are made of escaped text, and data cannot end the element that it stands in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import Page

from seq2seq_bottleneck.report.markup import Html, joined, json_script, prose, tag

# A carriage return is a line feed for every reader of HTML, and is not told apart here.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@given(TEXT, TEXT)
def test_any_text_comes_back_from_an_element_and_from_an_attribute(text, value):
    page = Page(tag("p", tag("b", text), title=value))
    assert page.named("b")[0].text == text
    assert page.named("p")[0].attributes == {"title": value}
    assert len(page.nodes) == 2


@pytest.mark.slow
@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner)))
def test_any_data_comes_back_from_its_script(data):
    made = json_script("held", data)
    (script,) = Page(made).nodes
    assert script.attributes == {"type": "application/json", "id": "held"}
    assert json.loads(script.text) == data
    assert made.isascii()
    assert not set(script.text) & set("<>&")


def test_no_element_of_the_page_can_be_ended_by_text():
    text = "</p><script>alert(1)</script><!--"
    page = Page(tag("p", text, text, title=text))
    assert [node.name for node in page.nodes] == ["p"]
    assert page.named("p")[0].text == 2 * text


@pytest.mark.parametrize("sign", ["\x00", "\x08", "\x1b", "\x9f", "\ud800"])
def test_what_html_cannot_hold_is_replaced(sign):
    assert tag("p", f"a{sign}b", title=sign) == '<p title="\ufffd">a\ufffdb</p>'


def test_attributes_are_named_as_in_html_and_left_out_where_there_is_none():
    made = tag("select", class_="a b", aria_label="x", hidden=True, id=None, tabindex=False)
    assert made == '<select class="a b" aria-label="x" hidden></select>'
    assert tag("br") == "<br>"


def test_html_stands_as_it_is_and_nothing_for_nothing():
    assert joined([Html("<b>"), None, "", "<"], ", ") == "<b>, &lt;"


def test_backticks_in_prose_are_code():
    made = prose("`bottleneck study <x>` does it; so does `b`")
    assert made == "<code>bottleneck study &lt;x&gt;</code> does it; so does <code>b</code>"
    assert prose("one ` alone <") == "one ` alone &lt;"
