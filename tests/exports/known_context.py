"""Runs in the environment of the validator: puts the JSON-LD context of RO-Crate 1.1 into its cache of web pages.

The validator asks the web for it. The package rocrate 0.14 has the very file, so that no test needs the web.
"""

import io
import sys
from importlib.resources import files

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

ADDRESS = "https://w3id.org/ro/crate/1.1/context"


class FromPackage(HTTPAdapter):
    """Answers from a file, as the web would."""

    def send(self, request, **options):
        body = io.BytesIO((files("rocrate") / "data" / "ro-crate.jsonld").read_bytes())
        raw = HTTPResponse(body, {"Content-Type": "application/ld+json"}, status=200, preload_content=False)
        return self.build_response(request, raw)


session = CachedSession(cache_name=sys.argv[1], backend="sqlite", expire_after=-1)
session.mount("https://", FromPackage())
session.get(ADDRESS).raise_for_status()
