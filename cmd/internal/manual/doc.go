// Package manual writes the manual pages of a program in the language of man(7), from
// the same table of commands as the help. The same table and version give the same
// bytes.
package manual
