"""The page of `xrelay explore` in a browser: search, clicks, keys and zoom."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator
from typing import Any

import pytest
from tests.unit.tools.explored import explore, write_model

sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives a browser, is not installed"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """The page of the small model, opened from its file."""
    folder = tmp_path_factory.mktemp("browser")
    write_model(folder / "two.onnx")
    explore(folder / "two.onnx", folder / "two.html", "--compare")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        errors: list[object] = []

        def note(error: object) -> None:
            errors.append(error)

        page.on("pageerror", note)
        page.goto((folder / "two.html").as_uri())
        page.wait_for_selector("body[data-ready]")
        yield page
        assert not errors
        browser.close()


@pytest.fixture
def page(opened: Any) -> Any:
    """The page with nothing selected."""
    opened.keyboard.press("Escape")
    return opened


def highlighted(page: Any, pane: int) -> list[str]:
    return page.locator(".pane").nth(pane).locator(".strong, .weak").all_inner_texts()


def test_search_selects_a_node_at_all_levels(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("stem conv relu")
    page.keyboard.press("Enter")
    assert page.locator(".node.selected").count() == 1
    assert any("nn.conv2d" in line for line in highlighted(page, 0))
    assert any("loop.for" in line for line in highlighted(page, 1))


def test_click_on_an_instruction_selects_its_node(page: Any) -> None:
    page.locator(".pane select").nth(1).select_option(label="assembly")
    page.locator(".node", has_text="Relu").first.click()
    page.locator(".pane").nth(1).locator(".lines .strong[title='/stem/act/Relu']").first.click()
    assert page.locator(".node.selected").count() >= 1
    strong = page.locator(".pane").nth(0).locator(".strong").all_inner_texts()
    assert ["relay.nn.relu" in line for line in strong if " = relay." in line] == [True]
    page.locator(".pane select").nth(1).select_option(label="scheduled")


def test_tabs_by_keys(page: Any) -> None:
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("2")
    assert page.locator("#tab .dot.selected").count() == 1
    assert "of the roofline, bound by" in page.locator("#tab").inner_text()
    page.keyboard.press("3")
    assert "post-dominator" in page.locator("#tab").inner_text()
    page.keyboard.press("4")
    assert "relay-alter-op-layout: nn.conv2d: works in" in page.locator("#tab").inner_text()
    page.keyboard.press("5")
    assert "▸" in page.locator("#tab").inner_text()
    page.keyboard.press("6")
    assert page.locator("#tab .buffer").count() > 0
    page.keyboard.press("7")
    page.locator("#tab tr", has_text="relay-fuse-ops").first.click()
    assert page.locator(".diff .added").count() > 0
    page.keyboard.press("8")
    assert "0 of 5 values differ from the reference" in page.locator("#tab").inner_text()
    page.keyboard.press("1")


def test_row_of_a_kernel_selects_it(page: Any) -> None:
    page.keyboard.press("1")
    page.locator("#tab tr.row").first.click()
    assert page.locator(".node.selected").count() >= 1
    assert page.locator("#tab tr.selected").count() >= 1


def test_modules_collapse_and_open(page: Any) -> None:
    everything = page.locator(".node").count()
    page.locator("#depth").fill("0")
    assert page.locator(".node.module").count() == 2
    page.locator(".node.module").first.dblclick()
    assert page.locator(".node.module").count() > 0
    assert page.locator(".node", has_text="stem/conv").count() + page.locator(".node", has_text="Relu").count() > 0
    page.locator("#depth").fill("9")
    assert page.locator(".node").count() == everything


def test_zoom_and_theme(page: Any) -> None:
    before = page.locator("#view").get_attribute("transform")
    page.keyboard.press("+")
    assert page.locator("#view").get_attribute("transform") != before
    page.keyboard.press("0")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != colour
    page.keyboard.press("t")


@pytest.mark.parametrize(
    ("tab", "selector", "answer"),
    [
        ("kernels", "#tab tr.row", r"GFLOP/s"),
        ("roofline", "#tab .dot", r"\d+ % of the roofline, bound by (memory|arithmetic)"),
        ("memory", "#tab .buffer", r"MiB hold \d+ buffers"),
        ("passes", "#tab tr.row", r"ops after"),
        ("values", "#tab tr.row", r"values differ from the reference"),
    ],
)
def test_two_clicks_answer_a_question(page: Any, tab: str, selector: str, answer: str) -> None:
    page.locator("#tabs button", has_text=tab).click()
    page.locator(selector).first.click()
    assert re.search(answer, page.locator("#tab").inner_text())
    if tab != "passes":
        assert page.locator(".node.selected").count() >= 1


@pytest.mark.parametrize(("tab", "answer"), [("fusion", "rule: "), ("rewrites", "works in"), ("schedule", "cycles")])
def test_two_clicks_explain_a_node(page: Any, tab: str, answer: str) -> None:
    page.locator(".node", has_text="Relu").first.click()
    page.locator("#tabs button", has_text=tab).click()
    assert answer in page.locator("#tab").inner_text()
