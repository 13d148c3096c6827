"""The studio from open to a verified release, by the answers of its server, with a real worker process."""

import random
import time

import pytest
from starlette.testclient import TestClient

import indistinct as ind
from cli_bench import run
from indistinct.reports.catalogue import LANGUAGES
from indistinct.studio.app import application

PORT = 8124
OWN = {"X-Indistinct-Studio": "1"}
STEPS = ("open", "columns", "coarser", "promise", "result", "evidence")
RECORD = {"purpose": "A study", "recipient": "A university", "responsible": "Li Wei", "review": "2027-12-01"}


def people(rows=120):
    draw = random.Random(3)  # noqa: S311  # it invents people
    ward, ill = ["Surgery", "Cardiology", "Oncology"], ["flu", "ulcer", "cough", "burn", "asthma"]
    return [f"{draw.randrange(20, 70)};{draw.choice('mf')};{draw.choice(ward)};{draw.choice(ill)}" for _ in range(rows)]


class Bench:
    """A person at the page: reads steps, sends forms, waits until the worker is done."""

    def __init__(self, client, guard):
        self.client, self.studio = client, guard._app.state.studio

    def page(self, step, **headers):
        answer = self.client.get(f"/{step}", headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    def do(self, deed, /, step="columns", files=None, **given):
        answer = self.client.post(f"/do/{deed}", data={"step": step, **given}, files=files, headers=OWN)
        assert answer.status_code in (200, 204), answer.text
        return answer.text

    def edit(self, what, /, **given):
        return self.do("edit", what=what, **given)

    def wait(self, seconds=120):
        for _ in range(seconds * 50):
            state = self.studio.state
            if state.error or (state.busy is None and state.view is not None):
                return state
            time.sleep(0.02)
        raise AssertionError(f"still busy: {self.studio.state.busy}")

    def decide(self, **roles):
        for name, role in roles.items():
            self.edit("role", column=name, role=role)
        return self.wait()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    (folder / "people.csv").write_text("\n".join(["age;sex;ward;illness", *people()]) + "\n", encoding="utf-8")
    guard = application("token", PORT, uploads=tmp_path_factory.mktemp("uploads"))
    with TestClient(guard, base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/?token=token")
        found = Bench(client, guard)
        found.folder = folder
        yield found


@pytest.fixture
def opened(bench):
    bench.do("open", place=str(bench.folder / "people.csv"))
    bench.wait()
    return bench


@pytest.fixture
def decided(opened):
    opened.decide(age="quasi_identifying", sex="quasi_identifying", ward="quasi_identifying", illness="sensitive")
    opened.edit("hierarchy", column="ward", choice="suppress")
    opened.wait()
    return opened


def test_before_a_table_is_open_there_is_one_step(bench):
    bench.studio.state = type(bench.studio.state)()
    for step in STEPS:
        answer = bench.client.get(f"/{step}", follow_redirects=False)
        assert (answer.status_code, answer.headers.get("location")) == (
            (200, None) if step == "open" else (303, "/open")
        )


def test_opening_shows_the_table_and_leaves_every_column_open(opened):
    page = opened.page("open")
    assert "120 rows, 4 columns" in page
    assert "<code>;</code>" in page
    page = opened.page("columns")
    assert "0 of 4 decided" in page
    assert page.count("? open") == 4
    assert 'id="next"' not in page
    assert "4 still open: age, sex, ward, illness" in page
    assert opened.client.get("/result", follow_redirects=False).headers["location"] == "/columns"
    assert opened.studio.state.picture is None


def test_a_role_is_an_edit_of_the_policy(opened):
    opened.edit("role", column="sex", role="insensitive")
    policy = ind.Policy.load(opened.client.get("/policy.toml").text)
    assert policy.attributes["sex"].role == "insensitive"
    assert "attributes.sex.role" not in [mark.place for mark in policy.open_marks]
    assert "1 of 4 decided" in opened.page("columns")
    opened.do("undo")
    assert "0 of 4 decided" in opened.page("columns")
    opened.do("redo")
    assert "1 of 4 decided" in opened.page("columns")


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_is_drawn_in_every_language(decided, language):
    picture = decided.studio.state.picture["picture"]
    assert picture["satisfied"]
    for step in STEPS:
        page = decided.page(step, **{"Accept-Language": language})
        assert f'<html lang="{language}"' in page
        assert "{" not in page.split("<main")[1].split("<svg")[0].replace("{ ", ""), step
    reason = {"en": "the name contains &#34;age&#34;", "zh-CN": "列名含有“age”"}[language]
    assert reason in decided.page("columns", **{"Accept-Language": language})
    text = decided.page("result", **{"Accept-Language": language})
    assert {"en": "not verified", "zh-CN": "未验证"}[language] in text
    assert {"en": "Verified from the file", "zh-CN": "已根据文件验证"}[language] not in text


def test_the_figures_are_those_of_the_session(decided):
    policy = ind.Policy.load(decided.studio.state.text).at(decided.folder)
    own = ind.Session(decided.folder / "people.csv").look(policy).document
    seen = decided.studio.state.picture["picture"]
    same = ("classes", "smallest_class", "suppressed_rows", "models", "columns", "loss", "sizes")
    assert {name: seen[name] for name in same} == {name: own[name] for name in same}
    assert f"<dd>{own['smallest_class']}</dd>" in decided.page("coarser")


@pytest.mark.slow
def test_thirty_quick_changes_are_thirty_steps_and_the_last_is_shown(decided):
    before = len(decided.studio.state.past)
    for k in range(2, 32):
        decided.edit("promise", model="0", parameter="k", value=str(k))
    state = decided.wait()
    assert len(state.past) - before in (29, 30)  # one of them may be what it was
    assert state.is_current
    assert state.picture["picture"]["models"][0]["required"] == {"k": 31}


def test_what_no_policy_may_say_is_refused_and_changes_nothing(decided):
    text = decided.studio.state.text
    page = decided.edit("promise", model="0", parameter="k", value="none")
    assert 'role="alert"' in page.split("<main")[1]
    assert "privacy" in page
    assert decided.studio.state.text == text
    decided.do("dismiss")
    assert 'role="alert"' not in decided.page("columns").split("<main")[1]


def test_a_target_out_of_reach_says_why_and_what_can_be_had(decided):
    decided.edit("promise", model="0", parameter="k", value="121")
    state = decided.wait()
    page = decided.page("result")
    assert not state.picture["picture"]["feasible"]
    assert state.picture["picture"]["reason"].split(";")[0].replace('"', "&#34;") in page
    assert "No release is possible" in page
    assert 'id="publish" disabled' in decided.page("evidence")


def test_what_would_help_changes_the_policy_only_when_it_is_pressed(decided):
    text = decided.studio.state.text
    decided.do("blocks")
    found = decided.wait().blocks["blocks"]
    assert decided.studio.state.text == text
    assert found
    assert found[0]["lm"] < decided.studio.state.picture["picture"]["loss"]["lm"]
    decided.edit(found[0]["what"], **found[0]["given"])
    picture = decided.wait().picture["picture"]
    assert (picture["loss"]["lm"], picture["smallest_class"]) == (found[0]["lm"], found[0]["smallest"])
    decided.do("try", number=str(decided.studio.state.tries[0]["number"]))
    assert decided.wait().is_current


def test_the_price_of_other_numbers(decided):
    decided.do("curve", model="0")
    points = decided.wait().curve["points"]
    assert [point["value"] for point in points] == ["2", "3", "5", "10", "20", "50"]
    assert points[0]["lm"] <= points[-1]["lm"]
    page = decided.page("promise")
    assert "Detail lost, by k" in page
    assert page.count("k = ") >= 12  # under the bars, and in the table for screen readers


@pytest.mark.slow
def test_what_is_published_is_what_the_command_publishes(decided):
    decided.edit("record", **RECORD)
    assert decided.studio.state.is_current
    page = decided.page("evidence")
    assert 'id="publish" aria' in page
    assert "in the name of Li Wei" in page  # types and numbers of the draft are open
    decided.do("publish", step="evidence", output="out.csv", decided_by="Li Wei")
    assert decided.studio.is_publishing
    text = decided.studio.state.text
    decided.edit("promise", model="0", parameter="k", value="9")
    decided.do("undo")
    decided.do("blocks")
    assert decided.studio.state.text == text  # only its end is heard while a release is written
    state = decided.wait()
    assert state.error is None, state.error
    assert "Verified from the file" in decided.page("evidence")
    assert state.published["proof"]["coverage"]["status"] == "proven"
    decided.do("prove")
    decided.do("stop")
    assert state.published["files"]["table"] == str(decided.folder / "out.csv")  # what was published stays
    state.published["proof"] = None  # as if the first had been ended
    assert 'id="prove"' in decided.page("evidence")
    decided.do("prove", step="evidence")
    decided.wait()
    assert "covers its original is proven" in decided.page("evidence")
    state.published["proof"] |= {"satisfied": False}
    assert "Do not hand it on" in decided.page("evidence")
    names = ("out.csv", "out.csv.manifest.json", "out.report.html", "out.public.html", "out.policy.toml", "people.csv")
    assert sorted(path.name for path in decided.folder.iterdir()) == sorted(names)
    policy, again = decided.folder / "downloaded.toml", decided.folder / "again.csv"
    policy.write_text(decided.client.get("/policy.toml").text, encoding="utf-8")
    words = ("--policy", policy, "--output", again, "--accept-draft", "Li Wei")
    assert run("anonymize", decided.folder / "people.csv", *words).returncode == 0
    published = (decided.folder / "out.csv").read_bytes()
    assert published == again.read_bytes()
    assert decided.client.get("/files/table").content == published
    assert decided.client.get("/files/policy").text == policy.read_text(encoding="utf-8")
    assert "attachment" in decided.client.get("/files/report").headers["content-disposition"]
    assert decided.client.get("/files/nothing").status_code == 404
    decided.edit("promise", model="0", parameter="k", value="4")
    assert decided.client.get("/files/table").status_code == 404  # another policy was not published
    decided.wait()
    decided.do("publish", step="evidence", output="out.csv", decided_by="Li Wei")
    assert "exists" in decided.wait().error["message"]
    assert published == (decided.folder / "out.csv").read_bytes()
    for name in names[:5]:
        (decided.folder / name).unlink()
    policy.unlink()
    again.unlink()
    again.with_name("again.csv.manifest.json").unlink()


def test_a_job_that_is_stopped_leaves_nothing(decided):
    before = sorted(path.name for path in decided.folder.iterdir())
    decided.do("publish", step="evidence", output="stopped.csv", decided_by="Li Wei")
    decided.do("stop")
    assert decided.studio.state.busy is None
    decided.edit("promise", model="0", parameter="k", value="4")
    assert decided.wait().is_current  # the worker had stopped, and answers
    assert sorted(path.name for path in decided.folder.iterdir()) == before


def test_a_worker_that_dies_is_replaced_and_the_page_says_so(decided):
    text, process = decided.studio.state.text, decided.studio._channel.process
    process.kill()
    for _ in range(1000):
        if decided.studio.state.lost:
            break
        time.sleep(0.02)
    state = decided.wait()
    for _ in range(1000):
        if state.busy is None and state.is_current:
            break
        time.sleep(0.02)
    assert decided.studio._channel.process is not process
    assert (state.text, state.is_current) == (text, True)
    assert "replaced" in decided.page("result")
    decided.do("dismiss")
    assert "replaced" not in decided.page("result")


def test_a_file_that_is_no_utf_8_is_read_as_that_of_a_spreadsheet(bench):
    content = "name;age\n" + "".join(f"Jürgen {n};{20 + n % 9}\n" for n in range(30))
    bench.do("upload", files={"file": ("old.csv", content.encode("cp1252"))})
    state = bench.wait()
    assert state.table["encoding"] == "cp1252"
    page = bench.page("open")
    assert "Jürgen 0" in page
    assert "Windows" in page
    assert 'encoding = "cp1252"' in state.text


def test_cells_that_do_not_look_like_the_others_are_asked_about(bench):
    rows = [f"{1950 + n % 50}-01-{1 + n % 28:02d};{n % 7}" for n in range(240)] + ["00.00.0000;1"] * 12
    (bench.folder / "junk.csv").write_text("\n".join(["born;visits", *rows]) + "\n", encoding="utf-8")
    bench.do("open", place=str(bench.folder / "junk.csv"))
    bench.wait()
    page = bench.page("open")
    assert "12 cells of “born”" in page
    assert "00.00.0000" in page
    bench.edit("missing", column="born", how="missing")
    policy = ind.Policy.load(bench.studio.state.text)
    assert policy.attributes["born"].missing_values == ("00.00.0000",)
    bench.edit("missing", column="born", how="leave")
    policy = ind.Policy.load(bench.studio.state.text)
    assert (policy.attributes["born"].missing_values, policy.attributes["born"].type) == ((), "text")
    (bench.folder / "junk.csv").unlink()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "line 3"),
        ("empty.csv", b"", "empty"),
        ("people.doc", b"x", "suffix"),
        ("twice.csv", b"a,a\n1,2\n", "2 times"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(bench, name, content, told):
    bench.do("upload", files={"file": (name, content)})
    state = bench.wait()
    assert told in state.error["message"]
    page = bench.page("open")
    assert "cannot be opened" in page
    assert "Traceback" not in page
    bench.do("dismiss")


def test_a_hierarchy_that_lacks_a_value_says_which(decided):
    file = decided.folder / "ward.csv"
    file.write_text("Surgery;*\nCardiology;*\n", encoding="utf-8")
    decided.edit("hierarchy", column="ward", choice="file", file="ward.csv")
    state = decided.wait()
    assert "Oncology" in state.error["message"]
    assert 'href="/columns#column-ward"' in decided.page("coarser")
    decided.do("undo")
    assert decided.wait().is_current
    file.unlink()


def test_a_nearly_unique_column_is_not_called_harmless_by_accident(bench):
    rows = [f"{20 + n % 30};{1000 + n}" for n in range(130)]
    (bench.folder / "bills.csv").write_text("\n".join(["age;bill", *rows]) + "\n", encoding="utf-8")
    bench.do("open", place=str(bench.folder / "bills.csv"))
    bench.wait()
    bench.decide(age="quasi_identifying", bill="insensitive")
    assert bench.wait().error["where"]["column"] == "bill"
    page = bench.page("columns")
    assert "Nobody outside can know it" in page
    bench.edit("confirmed", column="bill")
    assert bench.wait().picture["picture"]["satisfied"]
    (bench.folder / "bills.csv").unlink()


def test_nobody_finds_a_page_or_a_deed_that_is_not_there(bench):
    assert bench.client.get("/nothing").status_code == 404
    assert bench.client.post("/do/nothing", headers=OWN).status_code == 404
    assert bench.client.get("/static/../guard.py").status_code == 404


def test_language_and_look_are_remembered(opened):
    opened.do("language", language="zh-CN")
    opened.do("theme", theme="dark")
    assert '<html lang="zh-CN" data-theme="dark">' in opened.page("open")
    opened.do("language", language="xx")
    assert '<html lang="zh-CN"' in opened.page("open")
    opened.do("language", language="en")
    opened.do("theme", theme="auto")
