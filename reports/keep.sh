#!/bin/sh
# Leaves in folders of reports/ what is kept in the repository: `reports/keep.sh reports/evaluator-audit`.
# Pages (HTML) go, as they can be made again; the journals record that, and what people wrote; large ones are compressed.
set -e
for folder; do
    find "$folder" -name run -prune -o -name '*.html' -exec rm {} +
    find "$folder" -name run -prune -o \( -name journal.jsonl -o -name journal.jsonl.gz \) -print |
        while read -r journal; do repro seal "$(dirname "$journal")"; done
    find "$folder" -name run -prune -o -name journal.jsonl -size +100k -exec gzip -fn9 {} +
done
