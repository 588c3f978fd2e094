"""Programs in the egglog language, made from fixed parameters: the same text for every engine and every run."""
