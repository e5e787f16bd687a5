"""Random numbers, sparse tensors, trees and annotations; operators of other kinds have folders."""
