"""The five phases of a compression, one file each, named as the specification names them.

Each is a function from values to values: it takes messages and hands back new lists; what it was given stays as it was.
"""
