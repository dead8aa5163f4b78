package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return a.write(false, func(o *term.Output) error {
				v := map[string]string{"schema": "sessctl.version/1", "version": buildVersion(), "go": runtime.Version()}
				if a.flags.json {
					return writeJSON(o, v, false)
				}
				_, err := fmt.Fprintf(o, "sessctl %s (%s)\n", v["version"], v["go"])
				return err
			})
		},
	}
}

// buildVersion is the module's version, or the commit that it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
