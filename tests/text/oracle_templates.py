def compare(lumen, count):
    pass
