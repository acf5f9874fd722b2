package operations

import "slices"

// claim registers an operation, and returns the one that it replaces, which drop restores. It refuses:
//
//  1. an operation that is under way already, whose end is not recorded yet, or that has succeeded
//  2. one that overlaps with an operation under way; those that this server has registered meanwhile are checked again with the lock held
//  3. any operation if too many are under way
func (e *Engine) claim(l *activeOperation) (before *activeOperation, err error) {
	for _, other := range e.known() {
		if other.State == Running && other.ID != l.op.ID && overlap(other.Deed.about(other.here), l.op.Deed.about(l.here)) {
			return nil, underWay(other.Title, other.User)
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	before = e.own[l.op.ID]
	if before != nil && (!before.ended() || before.state() == Succeeded) {
		return nil, refuse(WhyBusy, "%q was resumed by %s meanwhile", before.op.Title, before.user)
	}
	if err := e.room(l); err != nil {
		return nil, err
	}
	e.own[l.op.ID] = l
	return before, nil
}

// room refuses an operation that cannot run beside those that this server carries out. The lock is held.
func (e *Engine) room(l *activeOperation) error {
	all, ofUser := 0, 0
	for _, other := range e.own {
		if other.state() != Running {
			continue
		}
		if other.op.ID != l.op.ID && overlap(other.op.Deed.about(other.here), l.op.Deed.about(l.here)) {
			return underWay(other.op.Title, other.user)
		}
		all++
		if other.user == l.user {
			ofUser++
		}
	}
	if all >= mostRunning || ofUser >= mostRunningByUser {
		return refuse(WhyTooMany, "%d operations are under way, %d of them yours: wait until one has ended", all, ofUser)
	}
	return nil
}

func underWay(title, user string) error {
	return refuse(WhyBusy, "%q, which %s started, is under way: wait for its end, or cancel it", title, user)
}

// drop removes an operation, if it is still this one, and restores the one that it replaced.
func (e *Engine) drop(l, before *activeOperation) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	switch {
	case e.own[l.op.ID] != l:
	case before != nil:
		e.own[l.op.ID] = before
	default:
		delete(e.own, l.op.ID)
	}
}

// subject is what a request is about: a module of a Kyma, the Kyma as a whole, or a channel of a release.
type subject struct {
	// kyma is empty for the cluster of the hub itself, module for a Kyma as a whole.
	kyma, module string
	// release and channel are empty for everything but promotions.
	release, channel string
}

// overlap reports whether two requests conflict: a Kyma as a whole conflicts with all of its modules.
func overlap(some, others []subject) bool {
	return slices.ContainsFunc(some, func(a subject) bool {
		return slices.ContainsFunc(others, func(b subject) bool {
			whole := a.module == "" || b.module == ""
			return a == b || a.release == "" && b.release == "" && a.kyma == b.kyma && whole
		})
	})
}

// Concerns reports whether a request is about a Kyma, or, with a module, about that module of it or the Kyma as a whole.
func (d *Request) Concerns(kyma, module string) bool {
	return overlap(d.about(nil), []subject{{kyma: kyma, module: module}})
}

// about returns the subjects of a request. If the modules of a Kyma are here, they are subjects in the cluster of the hub, too, where the
// same module may be installed directly.
func (d *Request) about(here []string) []subject {
	var all []subject
	add := func(kyma, module string) {
		all = append(all, subject{kyma: kyma, module: module})
		if slices.Contains(here, kyma) {
			all = append(all, subject{module: module})
		}
	}
	switch d.Kind {
	case Add:
		for _, m := range d.Modules {
			add(d.Kyma, m.Name)
		}
	case Upgrade:
		for _, i := range d.Items {
			add(i.Kyma, i.Module)
		}
	case Promote:
		all = append(all, subject{release: d.Release, channel: d.Channel})
	case Rollout: // of the release of the same name
		all = append(all, subject{release: d.Rollout, channel: d.Channel})
	case Delete, Manage, Unmanage, Channel, Configure, Back, Retry, Approve, Strategy, Create, Connect, DeleteKyma, Suspend, Resume:
		add(d.Kyma, d.Module)
		for _, name := range d.With {
			add(d.Kyma, name)
		}
	}
	return all
}
