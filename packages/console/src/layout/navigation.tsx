import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { projectsQuery } from '../api/system.ts'
import { isAdminAnywhere, signOut, useSession } from '../session/session.ts'
import { LiveSign } from './live-sign.tsx'
import classes from './navigation.module.css'
import { type Place, PROJECT_PLACES, SYSTEM_PLACES, systemPlacesFor } from './places.ts'

/** After the first page has loaded what it needs. */
const LOAD_PLACES_MS = 1_000

/** Loads the code of the places, so that the first visit of each shows at once. */
function useCodeOfPlaces(): void {
  const { routesById, loadRouteChunk } = useRouter()
  useEffect(() => {
    const places = PROJECT_PLACES.flat().map(({ path }) => `/p/$project${path === '' ? '/' : path}`)
    const load = () => {
      // A place that cannot be loaded now is loaded when it is opened.
      for (const [id, route] of Object.entries(routesById))
        if (places.includes(id)) void loadRouteChunk(route)?.catch(() => {})
    }
    const timer = setTimeout(load, LOAD_PLACES_MS)
    return () => clearTimeout(timer)
  }, [routesById, loadRouteChunk])
}

export function Navigation({ projectId, onFind }: { projectId: string | undefined; onFind: () => void }) {
  useCodeOfPlaces()
  return (
    <nav className={classes.nav} aria-label="Places">
      <div className={classes.top}>
        <ProjectSwitch projectId={projectId} />
        <UnstyledButton className={classes.find} onClick={onFind}>
          <span className={classes.findText}>Find</span>
          <kbd>{IS_MAC ? '⌘K' : 'Ctrl K'}</kbd>
        </UnstyledButton>
      </div>
      <div className={classes.places}>
        {projectId !== undefined &&
          PROJECT_PLACES.map(group => (
            <ul key={group[0]?.title} className={classes.group}>
              {group.map(place => (
                <PlaceLink key={place.path} place={place} href={`/p/${projectId}${place.path}`} />
              ))}
            </ul>
          ))}
        <ul className={classes.group}>
          {SYSTEM_PLACES.slice(0, 1).map(place => (
            <PlaceLink key={place.path} place={place} href={place.path} isPrefix />
          ))}
        </ul>
        <SystemPlaces />
        <ul className={classes.group}>
          <li data-on-phone className={classes.more}>
            <MorePlaces projectId={projectId} />
          </li>
        </ul>
      </div>
      <div className={classes.bottom}>
        <LiveSign />
        <PersonMenu />
      </div>
    </nav>
  )
}

const IS_MAC = navigator.platform.startsWith('Mac')

/** On a phone: the places that the bar at the bottom has no room for. */
function MorePlaces({ projectId }: { projectId: string | undefined }) {
  const navigate = useNavigate()
  const inProject = projectId === undefined ? [] : PROJECT_PLACES.flat().filter(({ isOnPhone = false }) => !isOnPhone)
  const places = [...inProject.map(place => ({ ...place, path: `/p/${projectId}${place.path}` })), SYSTEM_PLACES[0]]
  return (
    <Menu position="top-end" width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.place}>More</UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {places.map(
          place =>
            place !== undefined && (
              <Menu.Item key={place.path} onClick={() => void navigate({ href: place.path })}>
                {place.title}
              </Menu.Item>
            ),
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The pages below System, shown while one of them is open. */
function SystemPlaces() {
  const { pathname } = useLocation()
  const { me } = useSession()
  if (!pathname.startsWith('/system')) return null
  return (
    <ul className={`${classes.group} ${classes.inner}`}>
      {systemPlacesFor(isAdminAnywhere(me))
        .slice(1)
        .map(place => (
          <PlaceLink key={place.path} place={place} href={place.path} />
        ))}
    </ul>
  )
}

function PlaceLink({ place, href, isPrefix = false }: { place: Place; href: string; isPrefix?: boolean }) {
  const { pathname } = useLocation()
  const isExact = place.path === '' || isPrefix
  const isOpen = pathname === href || pathname === `${href}/` || (!isExact && pathname.startsWith(`${href}/`))
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    // On a low screen the places scroll.
    if (isOpen) link.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <li data-on-phone={place.isOnPhone || undefined}>
      <Link
        ref={link}
        to={href as '/'}
        className={classes.place}
        title={place.about}
        activeOptions={{ exact: true }}
        aria-current={isOpen ? 'page' : undefined}
      >
        <span className={classes.long}>{place.title}</span>
        <span className={classes.short}>{place.short ?? place.title}</span>
      </Link>
    </li>
  )
}

function ProjectSwitch({ projectId }: { projectId: string | undefined }) {
  const { data: projects = [] } = useQuery(projectsQuery)
  const navigate = useNavigate()
  const open = projects.find(({ project_id }) => project_id === projectId)
  return (
    <Menu width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.switch} aria-label={`${open?.name ?? 'Backstop'}: switch project`}>
          <span className={classes.mark} aria-hidden />
          <span className={classes.name} dir="auto">
            {open?.name ?? 'Backstop'}
          </span>
          <span className={classes.chevron} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {projects
          .filter(({ archived_at }) => archived_at === null)
          .map(({ project_id, name }) => (
            <Menu.Item
              key={project_id}
              classNames={{ itemLabel: classes.name }}
              title={name}
              aria-current={project_id === projectId || undefined}
              onClick={() => void navigate({ to: '/p/$project', params: { project: project_id } })}
            >
              {name}
            </Menu.Item>
          ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate({ to: '/system/projects' })}>All projects</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const SCHEMES = [
  { value: 'auto', label: 'Colours as the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

function PersonMenu() {
  const { me } = useSession()
  const navigate = useNavigate()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="top-start" width={200}>
      <Menu.Target>
        <UnstyledButton className={classes.person}>
          <span className={classes.name} dir="auto">
            {me?.name ?? '…'}
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            onClick={() => setColorScheme(value)}
            rightSection={colorScheme === value ? '✓' : null}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate({ to: '/system/sessions' })}>Sessions</Menu.Item>
        <Menu.Item onClick={() => void signOut().then(() => navigate({ to: '/sign-in' }))}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
