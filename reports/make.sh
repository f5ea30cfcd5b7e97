#!/bin/sh
# Makes every folder under reports/ anew, in hours: `make reports`, which installs what it takes.
# With names of folders, only these: `PATH=.venv/bin:$PATH reports/make.sh multiverse-ml100k replications`.
set -e
cd "$(dirname "$0")/.."

# The run of a study, and of it what is kept beside the study: the journal, the table and the report.
run() {
    repro run "$1/study.toml" --fresh $2
    cp "$1/run/journal.jsonl" "$1/run/results.csv" "$1/run/report.html" "$1"
    repro seal "$1"
}

folder() {
    case $1 in
    reference-ml100k) run reports/$1 ;;
    cross-framework-ml100k)
        run reports/$1
        run reports/$1/ut
        ;;
    metric-study-ml100k)
        repro run reports/$1/study.toml --fresh
        repro study-metrics reports/$1/run --into reports/$1
        ;;
    candidate-selection-ml100k)
        repro run reports/$1/study.toml --fresh --keep-scores
        repro explain reports/$1/run -m ndcg@10 --into reports/$1 \
            --to-protocol said-bellogin-ut --to-protocol valcarce-2018-allitems --to-protocol cremonesi-2010-1r
        ;;
    multiverse-ml100k)
        repro multiverse reports/$1/study.toml --vary ties,missing,candidates,relevance.threshold,metric.ndcg \
            --budget 2000 --into reports/$1
        ;;
    evaluator-audit) repro audit report --fresh --into reports/$1 --protocols protocols/inferred ;;
    replications) repro replicate reports/$1 --fresh --install ;;
    *)
        echo "there is no report '$1'; there are: $all" >&2
        exit 2
        ;;
    esac
}

# The audit comes before the replications, which use the policies that it finds.
all="reference-ml100k cross-framework-ml100k metric-study-ml100k candidate-selection-ml100k multiverse-ml100k \
evaluator-audit replications"
for one in ${*:-$all}; do
    echo "== reports/$one"
    folder "$one"
    repro seal "reports/$one" # what people wrote beside it
done
