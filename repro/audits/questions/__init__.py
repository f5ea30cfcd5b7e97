"""Questions: small evaluation inputs that black boxes are asked to evaluate."""
