#!/usr/bin/env python3
"""make_page.py PAGE CSS JS SPEEDSCOPE OUTPUT: the page of hybrid-convert --to html, all in one file, without its data.

PAGE has names in braces where parts go. Speedscope is a folder of npm's package; its fonts go into its style. Scripts are
named by their checksums in the policy of the page, so that a browser runs no others, whatever the data say.
"""

import base64
import hashlib
import html
import json
import re
import sys
from pathlib import Path


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"make_page: {folder}: {len(found)} files {pattern}, wanted one: is that speedscope's release?")
    return found[0].read_text()


def checksum(script):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def with_fonts(style, folder):
    """url("./x.woff2") becomes the font itself."""

    def font(match):
        return 'url("data:font/woff2;base64,%s")' % base64.b64encode((folder / match[1]).read_bytes()).decode()

    return re.sub(r'url\("\./([^"]+\.woff2)"\)', font, style)


def main():
    page, css, js, package, output = map(Path, sys.argv[1:])
    release = package / "dist/release"
    speedscope = re.sub(r"//# sourceMappingURL=.*\n?", "", one(release, "speedscope-*.js")).strip()
    style = re.sub(r"/\*# sourceMappingURL=.*\*/", "", one(release, "speedscope-*.css"))
    script = js.read_text()
    if any(end in text for text in (speedscope, script) for end in ("</script", "<!--")) or "</style" in style:
        sys.exit("make_page: a script or style that would end its own element cannot stand inside a page")
    parts = {
        "css": css.read_text(),
        "js": script,
        "scripts": f"{checksum(script)} {checksum(speedscope)}",
        "speedscope": speedscope,
        "speedscope_css": with_fonts(style, release),
        "speedscope_version": json.loads((package / "package.json").read_text())["version"],
        "license": html.escape((package / "LICENSE").read_text() + "\n" + one(release, "*.LICENSE.md")),
    }
    text = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], page.read_text())
    output.write_text(text)


main()
