"""The embedded model: answers by rule and by a small classifier, without a key or a network.

It implements the model seam and reads nothing but the rendered request. It is no language model:
what it cannot do by rule it says in one sentence, and changes nothing.
"""
