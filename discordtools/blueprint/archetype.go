package blueprint

// archetype is a kind of guild.
type archetype struct {
	name, profile string
	of            []Capability // that call for it
	words         string       // that call for it as well
	english       [2]string    // name and description of the guild
	vietnamese    [2]string

	roles     []badge // that people give themselves
	promptKey Symbol
	prompt    string // that asks for them

	category Symbol // of its own channels
	title    string
	places   []place // the two most important ones first, which a small guild has
	stage    bool
}

type badge struct {
	key   Symbol
	name  string
	color int
}

// place is a channel of an archetype.
type place struct {
	key    Symbol
	name   string
	kind   Kind
	topic  string
	slow   int
	tags   []string
	closed bool // everyone reads it and only staff writes
}

// archetypes are in the order in which they are looked for. What a community has
// besides, such as events, does not make it another kind.
var archetypes = []archetype{
	{
		name: "gaming", profile: "professional_gaming", of: []Capability{"gaming", "lfg", "platform", "roleplay"},
		english:    [2]string{"Gaming Community", "Find people to play with, and talk about games."},
		vietnamese: [2]string{"Cộng Đồng Game", "Tìm đồng đội và trò chuyện về game."},
		roles: []badge{
			{"pc", "PC", 0x1ABC9C}, {"playstation", "PlayStation", 0x2980B9}, {"xbox", "Xbox", 0x27AE60},
			{"mobile", "Mobile", 0x8E44AD}, {"switch", "Switch", 0xC0392B}, {"lfg", "LFG", 0xF1C40F},
		},
		promptKey: "platform", prompt: "Where do you play?", category: "gaming", title: "Gaming",
		places: []place{
			{key: "game_chat", name: "game-chat", kind: Text, topic: "What are you playing?", slow: 3},
			{key: "lfg_board", name: "lfg", kind: Forum, topic: "Look for a group: say which game, where and when", slow: 10, tags: []string{"PC", "Console", "Mobile", "Full"}},
			{key: "clips", name: "clips", kind: Text, topic: "Your best moments", slow: 15},
		},
	},
	{
		name: "open_source", profile: "professional_technology", of: []Capability{"technology"}, words: "repository, contributors, maintainers, library, github",
		english:    [2]string{"Open Source Project", "Help with the project, and work on it together."},
		vietnamese: [2]string{"Dự Án Mã Nguồn Mở", "Hỗ trợ và cùng nhau phát triển dự án."},
		roles:      []badge{{"developer", "Developer", 0x1ABC9C}, {"designer", "Designer", 0x9B59B6}, {"contributor", "Contributor", 0xF1C40F}},
		promptKey:  "part", prompt: "What do you do?", category: "technology", title: "Project",
		places: []place{
			{key: "tech_talk", name: "tech-talk", kind: Text, topic: "How it works and how it should", slow: 3},
			{key: "help_forum", name: "help-forum", kind: Forum, topic: "Ask: say what you tried and what happened", slow: 10, tags: []string{"Question", "Bug", "Solved"}},
			{key: "resources", name: "resources", kind: Text, topic: "Where to read on", closed: true},
			{key: "contributing", name: "contributing", kind: Text, topic: "Work on the project itself", slow: 3},
		},
	},
	{
		name: "study", profile: "professional_technology", of: []Capability{"learning"},
		english:    [2]string{"Study Group", "Learn together, and ask what you do not know yet."},
		vietnamese: [2]string{"Nhóm Học Tập", "Cùng nhau học và hỏi những điều chưa biết."},
		roles:      []badge{{"student", "Student", 0x1ABC9C}, {"tutor", "Tutor", 0x9B59B6}},
		promptKey:  "part", prompt: "What brings you here?", category: "study", title: "Study",
		places: []place{
			{key: "study_hall", name: "study-hall", kind: Text, topic: "What are you learning?", slow: 3},
			{key: "questions", name: "questions", kind: Forum, topic: "Ask: say what you know and where you are stuck", slow: 10, tags: []string{"Question", "Homework", "Solved"}},
			{key: "resources", name: "resources", kind: Text, topic: "Books, courses, notes", closed: true},
		},
	},
	{
		name: "creator", profile: "professional_creative", of: []Capability{"art", "music"}, words: "creator, creators, streamer, youtube, twitch, writers, podcast",
		english:    [2]string{"Creative Community", "Show what you make, and make it better together."},
		vietnamese: [2]string{"Cộng Đồng Sáng Tạo", "Chia sẻ tác phẩm và cùng nhau hoàn thiện."},
		roles:      []badge{{"artist", "Artist", 0xE91E63}, {"musician", "Musician", 0x9B59B6}},
		promptKey:  "craft", prompt: "What do you make?", category: "creative", title: "Creative",
		places: []place{
			{key: "collaboration", name: "collaboration", kind: Text, topic: "Find people to make things with", slow: 5},
			{key: "showcase", name: "showcase", kind: Forum, topic: "Show your work, and say what you want to hear about it", slow: 10, tags: []string{"Finished", "In Progress", "Feedback"}},
		},
		stage: true,
	},
	{
		name: "community", profile: "professional_community", of: []Capability{"community"},
		english:    [2]string{"Community", "A place to meet and talk."},
		vietnamese: [2]string{"Cộng Đồng", "Nơi gặp gỡ và trò chuyện."},
		promptKey:  "part", category: "topics", title: "Topics",
		places: []place{
			{key: "questions", name: "questions", kind: Text, topic: "Ask the community", slow: 5},
			{key: "discussions", name: "discussions", kind: Forum, topic: "One post for each topic", slow: 10, tags: []string{"Idea", "Question", "Poll"}},
		},
	},
	{
		name: "support", profile: "professional_community", of: []Capability{"support"},
		english:    [2]string{"Support Desk", "Get help, and see what others asked before."},
		vietnamese: [2]string{"Trung Tâm Hỗ Trợ", "Nhận trợ giúp và xem câu hỏi của người khác."},
		roles:      []badge{{"customer", "Customer", 0x1ABC9C}, {"expert", "Expert", 0xF1C40F}},
		promptKey:  "part", prompt: "Who are you?", category: "support", title: "Support",
		places: []place{
			{key: "help_chat", name: "help-chat", kind: Text, topic: "Short questions", slow: 5},
			{key: "help_forum", name: "help-forum", kind: Forum, topic: "Ask: say what you tried and what happened", slow: 10, tags: []string{"Question", "Problem", "Solved"}},
			{key: "known_issues", name: "known-issues", kind: Text, topic: "What is being worked on", closed: true},
		},
	},
	{
		name: "events", profile: "professional_community", of: []Capability{"events"},
		english:    [2]string{"Event Community", "See what comes next, and meet who comes."},
		vietnamese: [2]string{"Cộng Đồng Sự Kiện", "Theo dõi sự kiện và gặp gỡ mọi người."},
		roles:      []badge{{"attendee", "Attendee", 0x1ABC9C}, {"speaker", "Speaker", 0xE67E22}},
		promptKey:  "part", prompt: "How do you take part?", category: "programme", title: "Programme",
		places: []place{
			{key: "sign_up", name: "sign-up", kind: Text, topic: "Say that you come", slow: 5},
			{key: "proposals", name: "proposals", kind: Forum, topic: "Propose an event", slow: 10, tags: []string{"Idea", "Planned", "Done"}},
		},
		stage: true,
	},
	{
		name: "staff", profile: "professional_community", words: "internal, staff server, team server, back office, workspace", of: []Capability{"staff"},
		english:    [2]string{"Team Server", "Work together, and keep it in one place."},
		vietnamese: [2]string{"Máy Chủ Nội Bộ", "Làm việc cùng nhau tại một nơi."},
		roles:      []badge{{"operations", "Operations", 0x1ABC9C}, {"engineering", "Engineering", 0x9B59B6}, {"guest", "Guest", 0x7F8C8D}},
		promptKey:  "team", prompt: "Which team are you in?", category: "work", title: "Work",
		places: []place{
			{key: "stand_up", name: "stand-up", kind: Text, topic: "What you do today"},
			{key: "decisions", name: "decisions", kind: Forum, topic: "One post for each decision", tags: []string{"Open", "Decided"}},
			{key: "handbook", name: "handbook", kind: Text, topic: "How we work", closed: true},
		},
	},
}
