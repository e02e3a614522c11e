package practice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type lmList struct{ Models []lmModel }

func TestLMStudioLists(t *testing.T) {
	_, url := served(t, "reply\n say a\n", "lmstudio")
	var before, after lmList
	body := get(t, url+"/api/v1/models", &before)
	if m := before.Models[0]; m.Key != "practice" || m.Window != 131072 || !m.Can.Tools || len(m.Instances) != 0 || m.Selected != "practice@f32" {
		t.Errorf("before: %+v", m)
	}
	if !strings.Contains(body, `"loaded_instances":[]`) {
		t.Errorf("no instances are an empty list: %s", body)
	}
	if m := before.Models[1]; m.Type != "embedding" || m.Can != nil || m.Params != nil || strings.Count(body, `"capabilities"`) != 1 || !strings.Contains(body, `"params_string":null`) {
		t.Errorf("what an embedding model lacks: %s", body)
	}
	_, _, body, _ = post(t, url+"/api/v1/models/load", `{"model":"practice","context_length":65536,"echo_load_config":true}`)
	if !strings.Contains(body, `"type":"llm","instance_id":"practice","load_time_seconds":0.001,"status":"loaded","load_config":{"context_length":65536,`) {
		t.Errorf("load: %s", body)
	}
	get(t, url+"/api/v1/models", &after)
	if c := after.Models[0].Instances[0].Config; c.Window != 65536 || c.Parallel != 4 {
		t.Errorf("after: %+v", after)
	}
	if got := get(t, url+"/api/v0/models", nil); !strings.Contains(got, `"state":"loaded","max_context_length":131072,"loaded_context_length":65536,"capabilities":["tool_use"]`) ||
		!strings.Contains(got, `"type":"embeddings"`) {
		t.Errorf("older list: %s", got)
	}
	if got := get(t, url+"/api/v0/models/practice", nil); !strings.HasPrefix(got, `{"id":"practice","object":"model","type":"llm"`) {
		t.Errorf("one of the older list: %s", got)
	}
	if resp, err := http.Get(url + "/api/v0/models/absent/1b"); err != nil || resp.StatusCode != 404 {
		t.Errorf("one that is not there: %v %v", resp, err)
	}
}

// An unknown path is answered with status 200 and an error, and a server from before 0.4 knows no v1.
func TestLMStudioUnknownPaths(t *testing.T) {
	for script, paths := range map[string][]string{
		"reply\n say a\n":         {"/api/tags", "/", "/api/v1/nothing"},
		"era v0\nreply\n say a\n": {"/api/v1/models", "/api/v1/models/download/status/job_1"},
	} {
		_, url := served(t, script, "lmstudio")
		for _, path := range paths {
			if got := get(t, url+path, nil); got != fmt.Sprintf(`{"error":"Unexpected endpoint or method. (GET %s)"}`, path) {
				t.Errorf("%s: %s", path, got)
			}
		}
		status, _, body, _ := post(t, url+"/chat/completions", `{}`)
		if status != 200 || !strings.Contains(body, "(POST /chat/completions)") {
			t.Errorf("%d %s", status, body)
		}
	}
	_, url := served(t, "era v0\nreply\n say a\n", "")
	if got := get(t, url+"/api/v1/models", nil); !strings.HasPrefix(got, `{"error":"Unexpected`) {
		t.Errorf("era v0 on all wires: %s", got)
	}
	if got := get(t, url+"/api/v0/models", nil); !strings.Contains(got, `"state":"not-loaded"`) {
		t.Errorf("era v0 on all wires: %s", got)
	}
}

func TestLMStudioInstances(t *testing.T) {
	s, url := served(t, "reply\n say a\n", "lmstudio")
	chat := func(model string) int {
		status, _, _, _ := post(t, url+"/v1/chat/completions", `{"model":"`+model+`","messages":[{"role":"user","content":"`+strings.Repeat("word ", 8000)+`"}]}`)
		return status
	}
	if status, _, body, _ := post(t, url+"/v1/chat/completions", `{"model":"practice","messages":[{"role":"user","content":"`+strings.Repeat("word ", 8000)+`"}]}`); status != 400 ||
		!strings.HasPrefix(body, `{"error":"`) || !strings.Contains(body, "4096") {
		t.Errorf("loaded by a chat: %d %s", status, body)
	}
	for n := 2; n <= 3; n++ {
		_, _, body, _ := post(t, url+"/api/v1/models/load", `{"model":"practice","context_length":65536}`)
		if want := fmt.Sprintf(`"instance_id":"practice:%d"`, n); !strings.Contains(body, want) || strings.Contains(body, "load_config") {
			t.Errorf("loaded again: %s", body)
		}
	}
	if chat("practice") != 400 || chat("practice:2") != 200 || chat("practice:4") != 404 {
		t.Error("an instance is not what its id says")
	}
	if got := get(t, url+"/api/v0/models", nil); !strings.Contains(got, `"id":"practice:3","object":"model"`) {
		t.Errorf("older list: %s", got)
	}
	status, _, body, _ := post(t, url+"/api/v1/models/unload", `{"instance_id":"practice"}`)
	if status != 200 || body != `{"instance_id":"practice"}` || len(s.instances()) != 2 || chat("practice") != 200 {
		t.Errorf("unloaded: %d %s", status, body)
	}
	for path, body := range map[string]string{"unload": `{"instance_id":"practice"}`, "load": `{"model":"other"}`} {
		if status, _, got, _ := post(t, url+"/api/v1/models/"+path, body); status != 404 || !strings.HasPrefix(got, `{"error":{"message":"`) || !strings.Contains(got, `"type":"not_found"`) {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	// On all wires at once a chat over the OpenAI style finds what LM Studio's call has loaded, and Ollama's side is left alone.
	both, url := served(t, "reply\n say a\n", "")
	post(t, url+"/api/v1/models/load", `{"model":"practice","context_length":65536}`)
	if chat("practice") != 200 || len(both.instances()) != 1 || both.window != 0 {
		t.Errorf("on all wires: %+v, window %d", both.instances(), both.window)
	}
}

func TestLMStudioToken(t *testing.T) {
	_, url := served(t, "token s3cret\nreply\n say a\n", "lmstudio")
	ask := func(header, value string) (int, string) {
		req, _ := http.NewRequest(http.MethodGet, url+"/v1/models", nil)
		if header != "" {
			req.Header.Set(header, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body struct {
			Error struct{ Message, Type, Code string }
		}
		json.NewDecoder(resp.Body).Decode(&body)
		return resp.StatusCode, body.Error.Code
	}
	for _, test := range []struct {
		header, value string
		status        int
	}{{"", "", 401}, {"Authorization", "Bearer wrong", 401}, {"Authorization", "Bearer s3cret", 200}, {"X-Api-Key", "s3cret", 200}} {
		status, code := ask(test.header, test.value)
		if status != test.status || (status == 401) != (code == "invalid_api_key") {
			t.Errorf("%s %s: %d %s", test.header, test.value, status, code)
		}
	}
}

func TestLMStudioDownload(t *testing.T) {
	s, url := served(t, "absent\nsize 4000\nreply\n say a\n", "lmstudio")
	var list lmList
	if get(t, url+"/api/v1/models", &list); len(list.Models) != 1 || list.Models[0].Type != "embedding" {
		t.Errorf("absent: %+v", list)
	}
	var job lmDownload
	_, _, body, _ := post(t, url+"/api/v1/models/download", `{"model":"practice"}`)
	json.Unmarshal([]byte(body), &job)
	if job.Job == "" || job.Status != "downloading" || job.Total != 4000 || job.Started == nil || s.here() {
		t.Fatalf("begun: %s", body)
	}
	var seen []string
	for range 4 {
		var at lmDownload
		get(t, url+"/api/v1/models/download/status/"+job.Job, &at)
		seen = append(seen, fmt.Sprintf("%s %d of %d at %d", at.Status, at.Done, at.Total, at.Speed))
		if (at.Completed != nil) != (at.Status == "completed") {
			t.Errorf("%+v", at)
		}
	}
	if got := strings.Join(seen, ", "); got != "downloading 1000 of 4000 at 1000, downloading 2000 of 4000 at 1000, downloading 3000 of 4000 at 1000, completed 4000 of 4000 at 0" || !s.here() {
		t.Errorf("went %s", got)
	}
	if _, _, body, _ := post(t, url+"/api/v1/models/download", `{"model":"practice"}`); body != `{"status":"already_downloaded"}` {
		t.Errorf("again: %s", body)
	}
	_, _, body, _ = post(t, url+"/api/v1/models/download", `{"model":"https://hub.example/a/b","quantization":"Q4_K_M"}`)
	json.Unmarshal([]byte(body), &job)
	get(t, url+"/api/v1/models/download/status/"+job.Job, &job)
	if get(t, url+"/api/v1/models/download/status/"+job.Job, &job); job.Status != "failed" {
		t.Errorf("a link that leads nowhere: %+v", job)
	}
	for body, want := range map[string]int{`{"model":"other"}`: 404, `{"model":"practice","quantization":"Q8_0"}`: 400} {
		if status, _, got, _ := post(t, url+"/api/v1/models/download", body); status != want {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if resp, err := http.Get(url + "/api/v1/models/download/status/job_9"); err != nil || resp.StatusCode != 404 {
		t.Errorf("no such job: %v %v", resp, err)
	}
}

func TestLMStudioChat(t *testing.T) {
	s, url := served(t, "reply\n think Hm.\n say One.\nreply\n want ^again\n say Two.\n", "lmstudio")
	_, header, body, err := post(t, url+"/api/v1/chat", `{"model":"practice","input":"go","system_prompt":"be brief","stream":true,"context_length":8192}`)
	if err != nil || header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v %v", header, err)
	}
	var kinds []string
	for block := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, _ := strings.Cut(block, "\ndata: ")
		var event struct{ Type string }
		if json.Unmarshal([]byte(data), &event) != nil || "event: "+event.Type != name {
			t.Errorf("block %s", block)
		}
		kinds = append(kinds, event.Type)
	}
	kinds = slices.Compact(kinds)
	want := "chat.start model_load.start model_load.progress model_load.end prompt_processing.start prompt_processing.progress prompt_processing.end " +
		"reasoning.start reasoning.delta reasoning.end message.start message.delta message.end chat.end"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	if !strings.Contains(body, `"output":[{"type":"reasoning","content":"Hm."},{"type":"message","content":"One."}]`) || s.instances()[0].Config.Window != 8192 {
		t.Errorf("end: %s", body)
	}
	_, _, body, _ = post(t, url+"/api/v1/chat", `{"model":"practice","input":[{"type":"message","content":"again"}],"previous_response_id":"resp_1"}`)
	if !strings.Contains(body, `"output":[{"type":"message","content":"Two."}]`) || !strings.Contains(body, `"response_id":"resp_2"`) || strings.Contains(body, "model_load") {
		t.Errorf("goes on: %s", body)
	}
	for name, body := range map[string]string{
		"tools":               `{"model":"practice","input":"x","tools":[{}]}`,
		"the role assistant":  `{"model":"practice","input":[{"role":"assistant","content":"x"}]}`,
		"no response":         `{"model":"practice","input":"x","previous_response_id":"resp_9"}`,
		"input wants a text":  `{"model":"practice"}`,
		"cannot keep the fir": `{"model":"practice","input":"` + strings.Repeat("word ", 10000) + `"}`,
	} {
		if status, _, got, _ := post(t, url+"/api/v1/chat", body); status != 400 || !strings.Contains(got, name) {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
}

func TestLMStudioOlderChat(t *testing.T) {
	_, url := served(t, "loaded 65536\nreply\n call read {}\n", "lmstudio")
	ask := func(path, more string) string {
		_, _, body, _ := post(t, url+path, `{"model":"practice","messages":[{"role":"user","content":"x"}]`+more+`}`)
		return body
	}
	want := `"stats":{"tokens_per_second":1000,"time_to_first_token":0.001,"generation_time":0.001,"stop_reason":"toolCalls"},"model_info":{"arch":"llama","quant":"F32","format":"gguf","context_length":65536}`
	for _, more := range []string{"", `,"stream":true`} {
		if body := ask("/api/v0/chat/completions", more); strings.Count(body, want) != 1 || !strings.Contains(body, `"finish_reason":"tool_calls"`) {
			t.Errorf("%s: %s", more, body)
		}
		if body := ask("/v1/chat/completions", more); strings.Contains(body, "stats") {
			t.Errorf("stats over the OpenAI style: %s", body)
		}
	}
}

func TestLMStudioHead(t *testing.T) {
	if s := parsed(t, "token abc\nera v0\nreply\n say a\n"); s.Token != "abc" || s.Era != "v0" {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"token", "token a b", "era", "era v2"} {
		if _, err := Parse(bad + "\nreply\n say a\n"); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
