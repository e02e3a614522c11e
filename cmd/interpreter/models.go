package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/local"
)

// newModels is the commands about what the local servers have.
func newModels(w world, f *flags) *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error { return w.listModels(cmd.Context(), f, asJSON) }
	c := &cobra.Command{
		Use:   "models",
		Short: "List, download, check and delete the models of the local servers",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  list,
	}
	c.PersistentFlags().StringVar(&f.provider, "provider", "", "only this `provider`; the same as --local-provider")
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "as JSON")
	_ = c.RegisterFlagCompletionFunc("provider", asked(w, f, (*settings).ids))
	installed := asked(w, f, func(s *settings) []string { return s.installed(w, f) })
	c.AddCommand(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "What is installed, what of it fits here, and what is loaded",
		Args: usageArgs(cobra.NoArgs), RunE: list,
	}, &cobra.Command{
		Use: "pull NAME", Short: "Download a model; an interrupted download goes on where it stopped",
		Args: usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalogueNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return w.pullModel(cmd.Context(), f, args[0], asJSON) },
	}, &cobra.Command{
		Use: "check [NAME…]", Short: "Have models call tools, and show what was sent and what came back",
		ValidArgsFunction: installed,
		RunE:              func(cmd *cobra.Command, args []string) error { return w.checkModels(cmd.Context(), f, args, asJSON) },
	}, newRemove(w, f, installed))
	return c
}

func newRemove(w world, f *flags, installed cobra.CompletionFunc) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "rm NAME", Aliases: []string{"remove"}, Short: "Delete an installed model",
		Args: usageArgs(cobra.ExactArgs(1)), ValidArgsFunction: installed,
		RunE: func(cmd *cobra.Command, args []string) error { return w.removeModel(cmd.Context(), f, args[0], yes) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// wanted is the stock of the servers that a command is about: the named one, or all.
func (s *settings) wanted(ctx context.Context, w world, f *flags) (stock, error) {
	if f.provider == "" && !f.oss {
		providers, err := s.allProviders(w)
		if err != nil {
			return stock{}, err
		}
		return survey(ctx, providers), ctx.Err()
	}
	providers, err := s.providers(w)
	if err != nil {
		return stock{}, err
	}
	return survey(ctx, providers), ctx.Err()
}

// installed are the names of the models of the wanted servers, as far as they answer at once: a person is typing.
func (s *settings) installed(w world, f *flags) []string {
	ctx, cancel := context.WithTimeout(context.Background(), knockFor)
	defer cancel()
	all, _ := s.wanted(ctx, w, f)
	return all.names()
}

// find is the one installed model of a name. On several servers it is several.
func (s stock) find(name string) (have, error) {
	var found []have
	for _, m := range s.models {
		if local.SameModel(m.Name, name) && (len(found) == 0 || found[len(found)-1].server != m.server) {
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var ids []string
		for _, m := range found {
			ids = append(ids, m.server.Name())
		}
		return have{}, try(fmt.Errorf("find %s: %s have it", name, strings.Join(ids, " and ")), "name one of them with --provider "+ids[0])
	}
	if err := s.silent(); err != nil {
		return have{}, err
	}
	remedy := "interpreter models lists what is installed"
	if near := nearNames(name, s.names()); len(near) > 0 {
		remedy = "the name may be meant as " + strings.Join(near, ", or ") + "; " + remedy
	}
	return have{}, try(fmt.Errorf("find %s: not installed on any server that answers", name), remedy)
}

// silent is the error of a stock without a server that answers.
func (s stock) silent() error {
	var where, start []string
	for _, one := range s.servers {
		if one.Err == nil {
			return nil
		}
		if !one.absent() {
			return fmt.Errorf("find a model server: %s at %s: %w", one.Name(), one.Address(), one.Err)
		}
		where = append(where, one.Name()+" at "+one.Address())
		if guide, ok := one.Provider.(local.Guide); ok && one.here {
			start = append(start, guide.StartCommand())
		}
	}
	remedy := "check the address"
	if len(start) > 0 {
		remedy = "start it with: " + strings.Join(start, ", or ") + "; interpreter setup helps when none is installed"
	}
	return try(fmt.Errorf("find a model server: no answer from %s", strings.Join(where, " nor ")), remedy)
}

// removeModel deletes a model after asking.
func (w world) removeModel(ctx context.Context, f *flags, name string, yes bool) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	all, err := s.wanted(ctx, w, f)
	if err != nil {
		return err
	}
	m, err := all.find(name)
	if err != nil {
		return err
	}
	remover, can := m.server.Provider.(local.Remover)
	if !can {
		return try(fmt.Errorf("remove %s: %s deletes no models when asked over its server", m.Name, m.server.Name()), "delete it in the program that manages that server's models")
	}
	if !yes {
		if !w.stdinTerminal || !w.stderrTerminal {
			return try(fmt.Errorf("remove %s: there is nobody to ask whether %s may be deleted", m.Name, sized(m.Size)), "interpreter models rm "+m.Name+" --yes")
		}
		if sure, err := w.confirm(ctx, fmt.Sprintf("delete %s (%s) from %s? [y/N] ", harmless(m.Name), sized(m.Size), m.server.Name())); err != nil || !sure {
			return err
		}
	}
	if err := remover.Remove(ctx, m.Name); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	if s.Model != "" && local.SameModel(s.Model, m.Name) {
		fmt.Fprintf(w.stderr, "warning: %s is still the configured model; choose another: interpreter setup\n", harmless(s.Model))
	}
	_, err = fmt.Fprintf(w.stdout, "removed %s from %s: frees %s, less what other models share with it\n", harmless(m.Name), m.server.Name(), sized(m.Size))
	return err
}

func sized(bytes int64) string {
	if bytes <= 0 {
		return "a size that is not known"
	}
	return gb(bytes)
}

// confirm asks a question whose plain answer is no.
func (w world) confirm(ctx context.Context, question string) (bool, error) {
	if _, err := fmt.Fprint(w.stderr, question); err != nil {
		return false, err
	}
	answer := make(chan string, 1)
	go func() { // the terminal cannot be told to stop waiting; the program's end ends it
		line, _ := bufio.NewReader(w.stdin).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		if line == "y" || line == "yes" {
			return true, nil
		}
		_, err := fmt.Fprintln(w.stderr, "nothing was deleted")
		return false, err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
