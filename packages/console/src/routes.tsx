import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router'
import { actionList } from './api/actions.ts'
import { channelList } from './api/channels.ts'
import { queryClient } from './api/client.ts'
import { connectionList } from './api/connections.ts'
import { incidentList } from './api/incidents.ts'
import { readAhead } from './api/list.ts'
import type { ListDefinition } from './api/list-cache.ts'
import { ProjectFrame, SystemFrame } from './layout/frame.tsx'
import { PageFailed, PageMissing } from './layout/page-failed.tsx'
import { Root } from './layout/root.tsx'

type PageModule = { Page: RouteComponent }
const lazy = (load: () => Promise<PageModule>) => lazyRouteComponent(load, 'Page')

const root = createRootRoute({ component: Root, notFoundComponent: PageMissing })

const home = createRoute({ getParentRoute: () => root, path: '/', component: lazy(() => import('./pages/home.tsx')) })
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazy(() => import('./pages/sign-in/sign-in.tsx')),
})

/** Where alerts point: a page without its project, which opens it within its project. */
const finder = lazy(() => import('./pages/find.tsx'))
const found = [
  createRoute({ getParentRoute: () => root, path: '/incidents/$id', component: finder }),
  createRoute({ getParentRoute: () => root, path: '/actions/$id', component: finder }),
  createRoute({ getParentRoute: () => root, path: '/operations/$id', component: finder }),
  createRoute({ getParentRoute: () => root, path: '/budgets/$id', component: finder }),
  createRoute({ getParentRoute: () => root, path: '/runs/$id', component: finder }),
  createRoute({ getParentRoute: () => root, path: '/storms/$id', component: finder }),
] as const

const project = createRoute({ getParentRoute: () => root, path: '/p/$project', component: ProjectFrame })
/** @param ahead reads the data of the page before it is opened, when a pointer or the focus is on its link */
function page<const P extends string>(path: P, load: () => Promise<PageModule>, ahead?: (projectId: string) => void) {
  return createRoute({
    getParentRoute: () => project,
    path,
    component: lazy(load),
    loader({ params, preload, location }) {
      // With filters it is another list.
      if (preload && Object.keys(location.search).length === 0) ahead?.((params as { project: string }).project)
    },
  })
}
const aheadOf = (list: ListDefinition<never, { project_id: string }>) => (project_id: string) =>
  readAhead(queryClient, list, { project_id })
const projectPages = [
  page('/', () => import('./pages/overview/overview.tsx')),
  page('incidents', () => import('./pages/incidents/incident-list.tsx'), aheadOf(incidentList as never)),
  page('incidents/$id', () => import('./pages/incidents/incident.tsx')),
  page('storms', () => import('./pages/storms/storm-list.tsx')),
  page('storms/$id', () => import('./pages/storms/storm.tsx')),
  page('actions', () => import('./pages/actions/action-list.tsx'), aheadOf(actionList as never)),
  page('actions/$id', () => import('./pages/actions/action.tsx')),
  page('actors', () => import('./pages/actors/actor-list.tsx')),
  page('actors/$id', () => import('./pages/actors/actor.tsx')),
  page('customers/$id', () => import('./pages/customers/customer.tsx')),
  page('accounts/$id', () => import('./pages/accounts/account.tsx')),
  page('statements', () => import('./pages/actions/statements.tsx')),
  page('completeness', () => import('./pages/completeness/completeness.tsx')),
  page('dry-run', () => import('./pages/actions/dry-run.tsx')),
  page('operations', () => import('./pages/operations/operation-list.tsx')),
  page('operations/$id', () => import('./pages/operations/operation.tsx')),
  page('approvals', () => import('./pages/operations/approval-list.tsx')),
  page('budgets', () => import('./pages/operations/budget-list.tsx')),
  page('budgets/$id', () => import('./pages/operations/budget.tsx')),
  page('runs', () => import('./pages/operations/run-list.tsx')),
  page('runs/$id', () => import('./pages/operations/run.tsx')),
  page('connections', () => import('./pages/connections/connection-list.tsx'), aheadOf(connectionList as never)),
  page('connections/new', () => import('./pages/connections/new-connection.tsx')),
  page('connections/$id', () => import('./pages/connections/connection.tsx')),
  page('channels', () => import('./pages/channels/channel-list.tsx'), aheadOf(channelList as never)),
  page('channels/new', () => import('./pages/channels/new-channel.tsx')),
  page('channels/$id', () => import('./pages/channels/channel.tsx')),
  page('deliveries', () => import('./pages/deliveries/delivery-list.tsx')),
  page('deliveries/$id', () => import('./pages/deliveries/delivery.tsx')),
  page('expected-changes', () => import('./pages/expected-changes/expected-changes.tsx')),
  page('expected-changes/$id', () => import('./pages/expected-changes/expected-change.tsx')),
  page('settings', () => import('./pages/settings/settings.tsx')),
] as const

const system = createRoute({ getParentRoute: () => root, path: '/system', component: SystemFrame })
function systemPage<const P extends string>(path: P, load: () => Promise<PageModule>) {
  return createRoute({ getParentRoute: () => system, path, component: lazy(load) })
}
const systemPages = [
  systemPage('/', () => import('./pages/system/state.tsx')),
  systemPage('projects', () => import('./pages/system/projects.tsx')),
  systemPage('keys', () => import('./pages/access/keys.tsx')),
  systemPage('people', () => import('./pages/access/people.tsx')),
  systemPage('sessions', () => import('./pages/access/sessions.tsx')),
  systemPage('audit', () => import('./pages/audit/audit.tsx')),
  systemPage('dead-letters', () => import('./pages/system/dead-letters.tsx')),
] as const

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    ...found,
    project.addChildren(projectPages),
    system.addChildren(systemPages),
  ]),
  // Search params are plain text in both directions, so that links are short and readable. Pages check them with useFilters.
  parseSearch: search => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: search => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
  // For each page by itself, so that the frame stays.
  defaultErrorComponent: PageFailed as never,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
