"""The examination of one black box: from the first question to the inferred policy and its evidence."""
