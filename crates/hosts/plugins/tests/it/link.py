#!/usr/bin/env python3
"""Plays a provider that people really use: tasks from web pages. Written anew, from how the published one behaves.

Serial, standard library, no ping; answers `shutdown` with `{}` and stays until its input ends; says nothing to what is no
JSON, and dies of JSON that is no object.
"""
import hashlib
import html.parser
import json
import re
import sys
import urllib.error
import urllib.request
from urllib.parse import urlparse


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Page(html.parser.HTMLParser):
    """The title and the visible lines of a page."""

    def __init__(self):
        super().__init__()
        self.title, self.lines, self.inside = "", [], []

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data):
        if "title" in self.inside:
            self.title += data.strip()
        elif data.strip() and not {"script", "style", "head"} & set(self.inside):
            self.lines.append(data.strip())


def get(url):
    if not url:
        raise Failure(-32000, "No URL provided")
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            kind = answer.headers.get_content_type()
            return kind, answer.read().decode(answer.headers.get_content_charset() or "utf-8")
    except urllib.error.HTTPError as error:
        raise Failure(-32000, "HTTP %d: %s" % (error.code, error.reason))
    except urllib.error.URLError as error:
        raise Failure(-32000, "URL error: %s" % error.reason)
    except LookupError as error:
        raise Failure(-32000, "Fetch error: %s" % error)


def key_of(url):
    place = urlparse(url)
    last = re.sub(r"\.(html|php|asp|jsp|md|txt)$", "", place.path.rstrip("/").rpartition("/")[2])
    last = re.sub(r"[^A-Za-z0-9_-]+", "-", last)
    return last if 0 < len(last) <= 50 else place.netloc.replace(".", "-").replace(":", "-")


def read(url, kind, text):
    """The title and the text of a page."""
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if kind == "text/html":
        page = Page()
        page.feed(text)
        return page.title or key_of(url), "\n".join(page.lines)
    if kind == "application/json":
        return "JSON Content", json.dumps(json.loads(text), indent=2)
    return (heading.group(1) if heading else "Linked Content"), text


def handle(method, params):
    if method == "provider.init":
        return {"capabilities": ["read", "snapshot"]}
    if method == "shutdown":
        return {}
    if method == "provider.match":
        return {"matches": params.get("input", "").startswith(("link:", "url:", "http://", "https://"))}
    if method == "provider.parse":
        url = re.sub(r"^(link|url):", "", params.get("input", ""))
        if not urlparse(url).scheme.startswith("http") or not urlparse(url).netloc:
            return {"error": "Invalid URL: " + url}
        return {"id": url}
    if method == "provider.snapshot":
        return {"content": get(params.get("id", ""))[1]}
    if method == "provider.fetch":
        url = params.get("id", "")
        title, text = read(url, *get(url))
        return {
            "id": hashlib.sha256(url.encode()).hexdigest()[:12], "externalId": url, "externalKey": key_of(url),
            "taskType": "task", "provider": "link", "title": title, "description": text, "status": "open",
            "priority": 3, "labels": [], "source": {"reference": url},
        }
    raise Failure(-32601, "Method not found: " + method)


for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    answer = {"jsonrpc": "2.0", "id": request.get("id")}
    try:
        answer["result"] = handle(request.get("method", ""), request.get("params", {}))
    except Failure as failure:
        answer["error"] = {"code": failure.code, "message": str(failure)}
    except Exception as error:
        answer["error"] = {"code": -32000, "message": str(error)}
    print(json.dumps(answer), flush=True)
