//go:build !darwin

package probes

func probeApple() appleFacts { return appleFacts{} }
