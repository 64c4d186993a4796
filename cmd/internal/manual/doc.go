// Package manual makes manual pages of a program's table of commands, in the
// language of man(7), so that they say what the help says. The same table and
// version give the same bytes.
package manual
