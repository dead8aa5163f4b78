package command

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manPage = repo + "/cmd/sessctl/sessctl.1"

// manSections reads the manual page: what is below each .Sh, and below COMMANDS each .Ss.
func manSections(t *testing.T) (sections, commands map[string]string) {
	t.Helper()
	page, err := os.ReadFile(manPage)
	if err != nil {
		t.Fatal(err)
	}
	sections = cutAt(string(page), ".Sh ")
	return sections, cutAt(sections["COMMANDS"], ".Ss ")
}

// cutAt cuts a page at the lines that start with a macro, by what stands behind it.
func cutAt(page, macro string) map[string]string {
	parts := map[string]string{}
	for _, part := range strings.Split("\n"+page, "\n"+macro)[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		parts[name] = rest
	}
	return parts
}

// manFlags lists the flags that a part of the page has an item for, sorted.
func manFlags(part string) (names []string) {
	for _, line := range strings.Split(part, "\n") {
		if item, ok := strings.CutPrefix(line, ".It "); ok {
			for _, m := range regexp.MustCompile(`Fl (\S+)`).FindAllStringSubmatch(item, -1) {
				names = append(names, "-"+m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

// flagsIn lists the flags of a set as they are written, sorted.
func flagsIn(set *pflag.FlagSet) (names []string) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			names = append(names, flagNames(f)...)
		}
	})
	slices.Sort(names)
	return names
}

// everyCommand gives every command that users may call, with those below others, by its
// words.
func everyCommand(root *cobra.Command) map[string]*cobra.Command {
	list := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		list[c.Name()] = c
		for name, sub := range everyCommand(c) {
			list[c.Name()+" "+name] = sub
		}
	}
	return list
}

// synopsis is how the page writes how a command is called.
func synopsis(name, use string) string {
	line := ".Nm Cm " + name
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(word, "[") {
			line += " Op"
		}
		line += " Ar " + strings.Trim(word, "[].")
		if strings.Contains(word, "...") {
			line += " ..."
		}
	}
	return line
}

// TestManPage: the page has every command and flag, and no others.
func TestManPage(t *testing.T) {
	sections, parts := manSections(t)
	root := (&app{}).root()
	if got, want := manFlags(sections["OPTIONS"]), flagsIn(root.PersistentFlags()); !slices.Equal(got, want) {
		t.Errorf("sessctl.1 has the flags %v for all commands, want %v", got, want)
	}
	list := everyCommand(root)
	for name, c := range list {
		part, ok := parts[name]
		if !ok {
			t.Errorf("sessctl.1 has no part about %s", name)
			continue
		}
		if want := synopsis(name, c.Use); !strings.HasPrefix(part, want+"\n") {
			t.Errorf("sessctl.1: the part about %s does not start with %q", name, want)
		}
		if got, want := manFlags(part), flagsIn(c.LocalNonPersistentFlags()); !slices.Equal(got, want) {
			t.Errorf("sessctl.1 has the flags %v of %s, want %v", got, name, want)
		}
	}
	for name := range parts {
		if list[name] == nil && name != "completion" && name != "help" { // which cobra adds
			t.Errorf("sessctl.1 has a part about %s, which is no command", name)
		}
	}
}

// TestManPageExitStatus: the page has the exit codes of the help topic.
func TestManPageExitStatus(t *testing.T) {
	sections, _ := manSections(t)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\.It (\d+)$`).FindAllStringSubmatch(sections["EXIT STATUS"], -1) {
		got = append(got, m[1])
	}
	var want []string
	for _, line := range strings.Split(strings.TrimSpace(exitHelp), "\n") {
		want = append(want, strings.Fields(line)[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("sessctl.1 has the exit codes %v, want %v", got, want)
	}
}

// TestManPageIsSound: every list and display ends, lines are short, and mandoc, where it
// is installed, has nothing to say.
func TestManPageIsSound(t *testing.T) {
	page, err := os.ReadFile(manPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{".Bl", ".El"}, {".Bd", ".Ed"}} {
		if a, b := strings.Count(string(page), "\n"+pair[0]), strings.Count(string(page), "\n"+pair[1]); a != b || a == 0 {
			t.Errorf("sessctl.1 has %d %s and %d %s", a, pair[0], b, pair[1])
		}
	}
	for i, line := range strings.Split(string(page), "\n") {
		if len(line) > 80 && line[0] != '.' || strings.TrimRight(line, " \t") != line {
			t.Errorf("sessctl.1:%d: a long line, or blanks at its end: %q", i+1, line)
		}
	}
	if mandoc, err := exec.LookPath("mandoc"); err == nil {
		if out, err := exec.Command(mandoc, "-Tlint", manPage).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("mandoc -Tlint: %v\n%s", err, out)
		}
	}
}
