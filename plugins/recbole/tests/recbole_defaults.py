"""Runs in RecBole's environment: prints the settings that RecBole has for each model named, if none are given."""

import json
import sys

from recbole.config import Config

names, sys.argv = sys.argv[1:], sys.argv[:1]
settings = {name: Config(model=name, dataset="any").final_config_dict for name in names}
print(json.dumps(settings, default=str))
