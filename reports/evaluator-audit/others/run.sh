#!/bin/sh
# Asks every adapter in this folder what it computes, and writes the answers beside it.
# Needs: pip install torch torchmetrics==1.9.0 recommenders==1.2.1 rexmex==0.1.3
set -e
cd "$(dirname "$0")"
ask() {
    function=$1
    shift
    repro audit infer "adapters:$function" --quiet "$@" > "$function.txt"
}
for metric in ndcg precision recall ap; do ask "recommenders_$metric" --metric $metric --k 3; done
ask recommenders_rmse --metric rmse --k none
ask rexmex_ap --metric ap --k 3 --cannot ties --cannot missing_scores
ask torchmetrics_ndcg --metric ndcg --k 3 --cannot duplicates
ask torchmetrics_ap --metric ap --k 3 --cannot duplicates
ask torchmetrics_hit --metric hit --k 3 --cannot duplicates
ask torchmetrics_fallout --metric fallout --k 3 --cannot duplicates
