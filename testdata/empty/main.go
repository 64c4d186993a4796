// Command empty does nothing: the start of tt is measured beside it.
package main

func main() {}
