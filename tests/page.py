"""What a page is made of, for the tests of reports and notebooks."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page is made of: tags in order, and the ones left open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.ids, self.refs = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        self.refs += (given.get("aria-labelledby") or "").split() + [
            given["href"][1:] for key in ("href",) if (given.get(key) or "").startswith("#")
        ]
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
