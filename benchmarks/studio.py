"""Time what a person waits for in the studio: start, a key press on k, a role, cancelling; and its memory.

    python benchmarks/studio.py data/adult/adult.csv

The server is the real one; a change counts until the page shows the new picture. Roles are those that a draft suggests.
"""

import re
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path


class Page:
    """A page of the studio, without a browser."""

    def __init__(self, address):
        self.home = address.split("?")[0]
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.get(address)

    def get(self, place):
        place = place if place.startswith("http") else self.home + place
        return self.opener.open(place).read().decode()

    def do(self, deed, **given):
        body = urllib.parse.urlencode({"step": "promise", **given}).encode()
        asked = urllib.request.Request(f"{self.home}do/{deed}", body, {"X-Indistinct-Studio": "1"})  # noqa: S310  # this machine
        return self.opener.open(asked).read().decode()

    def wait(self, page=""):
        """Until nothing is under way and the figures are those of the policy; the page then."""
        while 'data-busy=""' not in page or "figures stale" in page:
            time.sleep(0.005)
            page = self.get("promise")
        return page

    def timed(self, deed, **given):
        start = time.perf_counter()
        self.wait(self.do(deed, **given))
        return time.perf_counter() - start


def memory(process):
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return {name: int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024 for name in ("VmRSS", "VmHWM")}


def worker_of(server):
    for entry in Path("/proc").glob("[0-9]*/stat"):
        fields = entry.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)
        command = Path(entry.parent / "cmdline").read_bytes()
        if fields[1].split()[1] == str(server) and b"spawn_main" in command:
            return int(entry.parent.name)
    raise SystemExit("the worker is not there")


def main():
    table = Path(sys.argv[1]).resolve()
    start = time.perf_counter()
    words = [sys.executable, "-m", "indistinct", "studio", "--no-browser", str(table)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            measure(server, start)
        finally:
            server.send_signal(2)


def measure(server, start):
    page = Page(re.search(r"http\S+", server.stdout.readline())[0])
    page.get("open")
    print(f"first page {time.perf_counter() - start:.2f} s; server {memory(server.pid)['VmRSS']:.0f} MiB")
    while 'id="undo"' not in page.get("open"):
        time.sleep(0.02)
    print(f"table open {time.perf_counter() - start:.2f} s")
    text = page.get("policy.toml")
    pattern = r"^\[attributes\.\"?([^\]\"]+)\"?\]\n(?:#[^\n]*\n)*role = \"(\w+)\""
    names = re.findall(pattern, text, re.MULTILINE)
    for name, role in names:
        page.do("edit", what="role", column=name, role=role)
    start = time.perf_counter()
    page.wait()
    print(f"first picture, kernels loaded: {time.perf_counter() - start:.2f} s")
    ks = [page.timed("edit", what="promise", model="0", parameter="k", value=str(k)) for k in range(6, 26)]
    print(f"k: median {statistics.median(ks):.3f} s, worst {max(ks):.3f} s")
    roles = []
    for name in [name for name, role in names if role == "quasi_identifying"][:4]:
        roles.append(page.timed("edit", what="role", column=name, role="identifying"))
        roles.append(page.timed("undo"))
    print(f"role: median {statistics.median(roles):.3f} s, worst {max(roles):.3f} s")
    for quality in ("balanced", "best"):
        waits = []
        for pause in (0.2, 0.5, 1.0):
            page.do("edit", what="quality", quality=quality)
            time.sleep(pause)
            waits.append(page.timed("edit", what="quality", quality="fast"))
        print(f"another policy while {quality} searches: worst {max(waits):.3f} s to its picture")
    print(f"server {memory(server.pid)}; worker {memory(worker_of(server.pid))} MiB")


if __name__ == "__main__":
    main()
