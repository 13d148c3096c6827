"""``utility``, ``explain`` and the reports of ``anonymize`` by subprocess: documents, exit codes, refusals."""

import json

import pytest

from cli_bench import POLICY, run


def publish(folder, *more):
    return run(
        "anonymize", folder / "table.csv", "--policy", folder / "policy.toml", "--output", folder / "out.csv", *more
    )


@pytest.mark.slow
def test_reports_are_written_with_the_release(folder):
    code, out, err = publish(
        folder, "--report", folder / "r.html", "--public-report", folder / "q.md", "--language", "zh-CN",
        "--dictionary", folder / "d.md", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["report"].endswith("r.html")
    assert document["public_report"].endswith("q.md")
    assert 'lang="zh-CN"' in (folder / "r.html").read_text(encoding="utf-8")
    assert "公开文件" in (folder / "q.md").read_text(encoding="utf-8")
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert "数据字典" in (folder / "d.md").read_text(encoding="utf-8")
    assert not {"report", "public_report", "dictionary"} & manifest.keys()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--report", "r.docx"), "none of these"),
        (("--report", "out.csv.manifest.json"), "also another output"),
        (("--report", "no/such/folder/r.html"), "does not exist; make it first"),
        (("--dictionary", "d.html"), "is neither"),
        (("--report", "r.html", "--language", "xx"), "en, zh-CN"),
        (("--report", "r.html", "--public-report", "r.html"), "also another output"),
    ],
)
def test_reports_that_cannot_be_written_stop_the_run_before_it_starts(folder, words, said):
    code, _, err = publish(folder, *(folder / w if "." in w or "/" in w else w for w in words))
    assert code == 2
    assert said in err
    assert sorted(path.name for path in folder.iterdir()) == ["policy.toml", "table.csv"]


def test_when_a_report_cannot_be_written_nothing_is_delivered(folder):
    before = sorted(path.name for path in folder.iterdir())
    name = "r" * 251 + ".html"  # one character longer than a name may be
    code, out, err = publish(folder, "--dictionary", folder / "d.md", "--report", folder / name)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: the report {name!r} cannot be written: ")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.slow
def test_reports_show_attacks_on_demand_and_earlier_answers(folder):
    code, _, err = publish(folder, "--attacks", "--report", folder / "r.json", "--public-report", folder / "q.json")
    assert (code, err) == (0, "")
    internal, public = (json.loads((folder / name).read_text()) for name in ("r.json", "q.json"))
    assert "homogeneity" in [entry["attack"] for entry in internal["attacks_document"]["attacks"]]
    assert "homogeneity" in [entry["attack"] for entry in public["attacks_document"]["attacks"]]
    policy = ("--policy", folder / "policy.toml")
    answers = {
        "risk": run("risk", folder / "table.csv", *policy, "--published", folder / "out.csv", "--json"),
        "attack": run("attack", folder / "out.csv", *policy, "--original", folder / "table.csv", "--json"),
    }
    given = []
    for word, (code, out, err) in answers.items():
        assert (code, err) == (0, "")
        (folder / f"{word}.json").write_text(out)
        given += [f"--{word}-document", folder / f"{word}.json"]
    code, _, err = publish(
        folder, *given, "--report", folder / "r.json", "--public-report", folder / "q.json", "--force"
    )
    assert (code, err) == (0, "")
    internal, public = (json.loads((folder / name).read_text()) for name in ("r.json", "q.json"))
    assert internal["risk_document"] == json.loads(answers["risk"][1])
    assert internal["attacks_document"] == json.loads(answers["attack"][1])
    assert public["attacks_document"] is None  # these attackers knew the original


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--attacks",), "name one with --report"),
        (("--attacks", "--attack-document", "a.json", "--report", "r.html"), "not both"),
        (("--risk-document", "table.csv", "--report", "r.html"), "no JSON document"),
        (("--risk-document", "none.json", "--report", "r.html"), "cannot be read"),
        (("--risk-document", "list.json", "--report", "r.html"), "no JSON document"),
        (("--risk-document", "empty.json", "--report", "r.html"), "no answer of indistinct risk"),
    ],
)
def test_documents_that_are_none_stop_the_run(folder, words, said):
    (folder / "list.json").write_text("[]")
    (folder / "empty.json").write_text("{}")
    before = sorted(path.name for path in folder.iterdir())
    code, _, err = publish(folder, *(folder / word if "." in word else word for word in words))
    assert code == 2
    assert said in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.slow
def test_utility_answers_in_words_and_as_a_document(folder):
    publish(folder)
    words = ["utility", folder / "table.csv", folder / "out.csv", "--policy", folder / "policy.toml", "--queries", 30]
    code, out, _ = run(*words)
    assert code == 0
    assert "random COUNT queries (30 with 3 conditions)" in out
    (folder / "q.sql").write_text("select ward, count(*) as n from data group by ward")
    code, out, err = run(*words, "--sql", f"@{folder / 'q.sql'}", "--regression", "age ~ ward", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert {"losses", "queries", "distributions", "contingency", "correlations", "sql", "regressions", "task"} <= set(
        document
    )
    assert document["sql"][0]["answers"][0]["original"] == 60
    assert document["queries"]["seed"] == 1


@pytest.mark.slow
def test_utility_refuses_half_a_task_and_bad_sql(folder):
    publish(folder)
    words = ["utility", folder / "table.csv", folder / "out.csv", "--policy", folder / "policy.toml", "--queries", 5]
    code, _, err = run(*words, "--target", "ill")
    assert (code, "go together" in err) == (2, True)
    code, out, _ = run(*words, "--sql", "select * from nowhere", "--json")
    assert code == 2
    assert json.loads(out)["error"]["kind"] == "policy"


@pytest.mark.slow
def test_utility_gives_private_answers_with_declared_bounds_only(folder):
    publish(folder)
    words = ["utility", folder / "table.csv", folder / "out.csv", "--policy", folder / "policy.toml", "--queries", 5]
    code, out, err = run(*words, "--private", "1", "--bounds", "age=0,120", "--bounds", "ill=x,y,z", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)["private"]
    assert [entry["query"] for entry in document["answers"]] == [
        "mean of age", "histogram of age", "histogram of ill",
    ]  # fmt: skip
    assert abs(document["epsilon"] - 1) < 1e-9
    assert document["answers"][0]["sensitivity"] == 1  # 120 / 120 rows
    code, out, _ = run(*words, "--private", "0.5", "--bounds", "age=0,120")
    assert (code, "epsilon 0.5 spent by 2 private answers" in out) == (0, True)
    code, out, _ = run(*words, "--private", "1", "--json")
    assert (code, json.loads(out)["error"]["kind"]) == (2, "policy")
    for wrong in (["--private", "0"], ["--private", "x"], ["--bounds", "age=0,120"]):
        code, _, err = run(*words, *wrong)
        assert code == 2
        assert "private" in err or "epsilon must be" in err


def test_explain_answers_and_says_no(folder):
    words = ["explain", folder / "table.csv", "--policy", folder / "policy.toml"]
    code, out, _ = run(*words)
    assert code == 0
    assert "the target can be met" in out
    code, out, err = run(*words, "--loss", "0.5", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["feasible"]
    assert [entry["parameter"] for entry in document["reachable"]] == ["k", "l"]
    (folder / "policy.toml").write_text(POLICY.replace("k = 5", "k = 500"))
    code, out, _ = run(*words, "--json")
    assert code == 1
    assert not json.loads(out)["feasible"]
    code, _, err = run(*words, "--loss", "20")
    assert (code, "from 0 to 1" in err) == (2, True)


@pytest.mark.slow
def test_utility_takes_both_tables_and_rows_that_were_held_out(folder):
    pytest.importorskip("sklearn")
    anatomy = POLICY.replace('algorithm = "optimal"', 'algorithm = "anatomy"').split("[[privacy]]")
    (folder / "groups.toml").write_text("[[privacy]]".join([anatomy[0], anatomy[2]]))
    assert run("anonymize", "table.csv", "--policy", "groups.toml", "--output", "g.csv", "--quiet", cwd=folder)[0] == 0
    words = ("utility", "table.csv", "g.qit.csv", "--policy", "groups.toml", "--json")
    code, out, _ = run(*words, cwd=folder)
    assert (code, "give both, first QIT, then ST" in out) == (2, True)
    (folder / "held.csv").write_text("age;ward;ill\n20;A;x\n25;B;y\n")
    task = ("--target", "ill", "--estimator", "sklearn.tree:DecisionTreeClassifier", "--holdout", "held.csv")
    code, out, _ = run(*words[:3], "g.st.csv", *words[3:], *task, cwd=folder)
    document = json.loads(out)
    assert (code, document["in_groups"], document["published_rows"]) == (0, True, 120)
    assert (document["task"]["held_out"], document["task"]["runs"][0]["test_rows"]) == (True, 2)
    code, _, err = run(*words[:5], "--holdout", "held.csv", cwd=folder)
    assert (code, "--holdout belongs to --target" in err) == (2, True)
