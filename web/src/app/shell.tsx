// The frame of every page: where one is, where one can go, whether the page is live.
import { ActionIcon, AppShell, Burger, Button, Menu, Modal, useMantineColorScheme } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { CircleUser, LogOut, Moon, Search, Sun, SunMoon } from 'lucide-react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { NavLink, Outlet, useLocation, useNavigate } from 'react-router'
import { OperationDialog } from '../deeds/DeedModal'
import { query } from '../live/http'
import { useConnection, useLive } from '../live/useLive'
import { Loading, Trouble } from '../parts/loaded'
import { codeOf, Part } from './code'
import { Drafts, DraftsContext, tabStorage } from './drafts'
import { LeaveGuard } from './leaving'
import { groups } from './navigation'
import { useSession } from './session'
import { fill, formOf } from '../fill'
import { messages } from '../messages'

/** Logo is the mark of the dashboard. */
export function Logo() {
  return <img src="/favicon.svg" alt="" width={28} height={28} />
}

function Navigation({ running, close }: { running: number; close: () => void }) {
  return (
    <nav aria-label={messages.shell.pages}>
      {groups.map((group) => (
        <div key={group.name}>
          <div className="nav-group">{group.name}</div>
          {group.links.map(([to, label, Icon]) => (
            <NavLink key={to} to={to} end={to === '/'} className="nav-link" onClick={close}>
              <Icon size={18} aria-hidden />
              {label}
              {to === '/operations' && running > 0 && (
                <span className="tag tag-strong end">
                  {running}
                  <span className="hidden-text"> {messages.shell.running}</span>
                </span>
              )}
            </NavLink>
          ))}
        </div>
      ))}
    </nav>
  )
}

/** Scheme chooses light, dark, or what the system says. */
export function Scheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = { auto: 'light', light: 'dark', dark: 'auto' } as const
  const icons = { auto: <SunMoon size={18} aria-hidden />, light: <Sun size={18} aria-hidden />, dark: <Moon size={18} aria-hidden /> }
  const names = { auto: messages.shell.asTheSystem, light: messages.shell.light, dark: messages.shell.dark }
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      onClick={() => setColorScheme(next[colorScheme])}
      aria-label={fill(messages.shell.colorsChangeTo, { now: names[colorScheme], next: names[next[colorScheme]] })}
    >
      {icons[colorScheme]}
    </ActionIcon>
  )
}

function Account() {
  const { session, logout } = useSession()
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={fill(messages.shell.account, { user: session?.user ?? '' })}>
          <CircleUser size={19} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{session?.user || messages.shell.notLoggedIn}</Menu.Label>
        <Menu.Label>{session?.cluster}</Menu.Label>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => void logout()}>
          {messages.shell.logOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Lost says that the page shows what was, and not what is. */
function Lost() {
  const { connection, retry } = useConnection()
  return (
    <div role="status" aria-live="polite">
      {connection === 'lost' && (
        <div className="notice tone-warn row between lost">
          <span>{messages.shell.connectionGoneSeeHowDashboard}</span>
          <Button size="compact-sm" variant="default" onClick={retry}>
            {messages.shell.tryNow}
          </Button>
        </div>
      )}
    </div>
  )
}

const palette = codeOf(() => import('../palette/Palette'))

/** Palette opens by Ctrl-K or its button, over everything but another dialog. */
function Palette() {
  const [opened, { open, close, toggle }] = useDisclosure()
  const before = useRef<Element | null>(null)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const asked = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
      const dialogs = [...document.querySelectorAll('[role=dialog]')]
      const other = dialogs.some((dialog) => !dialog.querySelector('[data-palette]'))
      if (!asked || event.defaultPrevented || other) return
      event.preventDefault()
      before.current = document.activeElement
      toggle()
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [toggle])
  /** leave closes it; the focus goes back, or to the page that was chosen. */
  const leave = (chosen?: boolean) => {
    close()
    const next = chosen ? document.getElementById('main') : before.current
    if (next instanceof HTMLElement) next.focus({ preventScroll: true })
  }
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={messages.shell.searchEverything}
        aria-keyshortcuts="Control+K"
        onClick={(event) => {
          before.current = event.currentTarget
          open()
        }}
      >
        <Search size={18} aria-hidden />
      </ActionIcon>
      <Modal
        opened={opened}
        onClose={() => leave()}
        title={messages.shell.searchEverything}
        size="lg"
        centered={false}
        returnFocus={false}
        transitionProps={{ duration: 0 }}
      >
        <div data-palette>
          <Part code={palette}>{(Page) => <Page leave={leave} />}</Part>
        </div>
      </Modal>
    </>
  )
}

/** useSlash makes / go to the search of the page, or to the one of modules. */
function useSlash() {
  const navigate = useNavigate()
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || document.querySelector('[role=dialog]')) return
      event.preventDefault()
      const field = document.querySelector<HTMLInputElement>('[data-search]')
      if (field) field.focus()
      else void navigate('/modules', { state: { search: true } })
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [navigate])
}

/** useArrival moves the focus to the new page, so that a screen reader reads it. The page's header names the window. */
function useArrival() {
  const { pathname, state } = useLocation()
  const main = useRef<HTMLElement>(null)
  const last = useRef('')
  useEffect(() => {
    const before = last.current
    if (before === pathname) return // only the list's filter changed: the field being edited keeps the focus
    last.current = pathname
    window.scrollTo(0, 0)
    const searching = (state as { search?: boolean } | null)?.search // then the search takes the focus itself
    if (!searching && before !== '') main.current?.focus({ preventScroll: true })
  }, [pathname, state])
  return main
}

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  const { session } = useSession()
  const [drafts] = useState(() => new Drafts(session?.user, tabStorage()))
  const running = useLive(query('/operations', { state: 'Running', limit: 5 }), true)
  const main = useArrival()
  useSlash()
  const n = running.data?.total ?? 0
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 226, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {messages.shell.skipToTheContent}
      </a>
      <AppShell.Header className="bar-top">
        <div className="row nowrap-row">
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={opened ? messages.shell.closeTheMenu : messages.shell.openTheMenu}
          />
          <NavLink to="/" className="brand">
            <Logo />
            {messages.common.kymaModules}
          </NavLink>
          <span className="dim small cluster" title={session?.cluster}>
            {session?.cluster}
          </span>
        </div>
        <div className="row nowrap-row">
          {n > 0 && (
            <NavLink to="/operations" className="state tone-busy plain">
              {fill(messages.shell.countRunning, { count: n })}
              <span className="hidden-text"> {formOf(n, messages.nouns.operation)}</span>
            </NavLink>
          )}
          <Palette />
          <Scheme />
          <Account />
        </div>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="side">
        <Navigation running={n} close={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className="main">
        <div className="page">
          <Lost />
          <DraftsContext value={drafts}>
            <LeaveGuard>
              <Outlet />
            </LeaveGuard>
          </DraftsContext>
          <OperationDialog />
        </div>
      </AppShell.Main>
    </AppShell>
  )
}

/** Entrance lets in who is logged in, and sends the others to the login page. */
export function Entrance({ children, login }: { children: ReactNode; login: ReactNode }) {
  const { session, error, again } = useSession()
  if (error)
    return (
      <main className="page alone">
        <Trouble error={error} again={again} />
      </main>
    )
  if (!session)
    return (
      <main className="page alone">
        <h1 className="hidden-text">{messages.common.kymaModules}</h1>
        <Loading rows={3} />
      </main>
    )
  return session.loggedIn ? children : login
}
