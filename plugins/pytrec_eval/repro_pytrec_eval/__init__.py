"""trec_eval, through pytrec_eval, behind the interface of evaluators."""
