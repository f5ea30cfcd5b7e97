#!/bin/sh
# Makes the questions of reports/ again, with their pages (HTML), in build/reports: `make reports`, which installs what
# it takes. The page of the audit is made from the journal in a minute. The other pages need runs, which take hours and
# stay in build/reports for the next time.
# With names of folders, only these: `PATH=.venv/bin:$PATH reports/make.sh multiverse-ml100k replications`.
# KEEP=1 takes the results back into reports/: everything but pages and runs.
set -e
cd "$(dirname "$0")/.."

# The run of a study, and next to the study its journal, its table and its page.
run() {
    repro run "$1/study.toml" --resume
    rm -f "$1/journal.jsonl.gz"
    cp "$1/run/journal.jsonl" "$1/run/results.csv" "$1/run/report.html" "$1"
    repro seal "$1"
}

make_in() {
    case ${1##*/} in
    reference-ml100k) run "$1" ;;
    cross-framework-ml100k)
        run "$1"
        run "$1/ut"
        run "$1/definitions"
        run "$1/definitions/ut"
        ;;
    metric-study-ml100k)
        repro run "$1/study.toml" --resume
        repro study-metrics "$1/run" --into "$1"
        ;;
    candidate-selection-ml100k)
        repro run "$1/study.toml" --resume --keep-scores
        repro explain "$1/run" -m ndcg@10 --into "$1" \
            --to-protocol said-bellogin-ut --to-protocol valcarce-2018-allitems --to-protocol cremonesi-2010-1r
        ;;
    multiverse-ml100k)
        repro multiverse "$1/study.toml" --vary ties,missing,candidates,relevance.threshold,metric.ndcg \
            --budget 2000 --into "$1"
        ;;
    evaluator-audit) # `make audit` asks the evaluators, and writes protocols/tables/inferred.toml
        repro audit report --from-journal --into "$1" --protocols build/reports/inferred.toml
        ;;
    replications) repro replicate "$1" --resume --install ;;
    *)
        echo "there is no report '${1##*/}'; there are: $all" >&2
        exit 2
        ;;
    esac
}

all="reference-ml100k cross-framework-ml100k metric-study-ml100k candidate-selection-ml100k multiverse-ml100k \
evaluator-audit replications"
for name in ${*:-$all}; do
    made=build/reports/$name
    echo "== $made"
    mkdir -p "$made"
    find "$made" -name run -prune -o -type f -exec rm {} +
    cp -R "reports/$name/." "$made"
    make_in "$made"
    if [ -n "$KEEP" ]; then
        (cd "$made" && find . -name run -prune -o -type f -print | tar -cf - -T -) | tar -xf - -C "reports/$name"
        reports/keep.sh "reports/$name"
    fi
done
