import type { Route } from '../http/route.ts'
import type { AdminParts } from '../parts.ts'
import { actionRoutes } from './actions/actions.ts'
import { actorRoutes } from './actors/actors.ts'
import { alertChannelRoutes } from './alert-channels/alert-channels.ts'
import { apiKeyRoutes } from './api-keys/api-keys.ts'
import { archiveRoutes } from './archive/archive.ts'
import { auditRoutes } from './audit/audit.ts'
import { budgetRoutes } from './budgets/budgets.ts'
import { completenessRoutes } from './completeness/completeness.ts'
import { connectionRoutes } from './connections/connections.ts'
import { deadLetterRoutes } from './dead-letters/dead-letters.ts'
import { deliveryRoutes } from './deliveries/deliveries.ts'
import { expectedChangeRoutes } from './expected-changes/expected-changes.ts'
import { inboxRoutes } from './inbox/inbox.ts'
import { inboxReplayRoutes } from './inbox-replays/inbox-replays.ts'
import { incidentRoutes } from './incidents/incidents.ts'
import { installationRoutes } from './installation/installation.ts'
import { liveRoutes } from './live/live.ts'
import { mailEventRoutes } from './mail-events/mail-events.ts'
import { oidcSignInRoutes } from './oidc-sign-in/oidc-sign-in.ts'
import { approvalRoutes, operationRoutes } from './operations/operations.ts'
import { peopleRoutes } from './people/people.ts'
import { personErasureRoutes } from './person-erasures/person-erasures.ts'
import { previewRoutes } from './previews/previews.ts'
import { projectRoutes } from './projects/projects.ts'
import { replayRoutes } from './replays/replays.ts'
import { runRoutes } from './runs/runs.ts'
import { searchRoutes } from './search/search.ts'
import { secretRoutes } from './secrets/secrets.ts'
import { selfDescriptionRoutes } from './self-description/self-description.ts'
import { sessionRoutes } from './sessions/sessions.ts'
import { silenceRoutes } from './silences/silences.ts'
import { statsRoutes } from './stats/stats.ts'
import { stormRoutes } from './storms/storms.ts'
import { suppressionRoutes } from './suppressions/suppressions.ts'
import { unsubscribeRoutes } from './unsubscribe/unsubscribe.ts'

/** All routes. Exactly these are served and listed in the OpenAPI document. */
export function allRoutes(parts: AdminParts): Route[] {
  const routes = [
    ...projectRoutes(parts),
    ...connectionRoutes(parts),
    ...alertChannelRoutes(parts),
    ...deliveryRoutes(parts),
    ...replayRoutes(parts),
    ...deadLetterRoutes(parts),
    ...suppressionRoutes(parts),
    ...operationRoutes(parts),
    ...approvalRoutes(parts),
    ...budgetRoutes(parts),
    ...runRoutes(parts),
    ...incidentRoutes(parts),
    ...stormRoutes(parts),
    ...actionRoutes(parts),
    ...actorRoutes(parts),
    ...personErasureRoutes(parts),
    ...archiveRoutes(parts),
    ...searchRoutes(parts),
    ...statsRoutes(parts),
    ...completenessRoutes(parts),
    ...liveRoutes(parts),
    ...expectedChangeRoutes(parts),
    ...silenceRoutes(parts),
    ...inboxRoutes(parts),
    ...inboxReplayRoutes(parts),
    ...apiKeyRoutes(parts),
    ...peopleRoutes(parts),
    ...sessionRoutes(parts),
    ...oidcSignInRoutes(parts),
    ...auditRoutes(parts),
    ...secretRoutes(parts),
    ...installationRoutes(parts),
    ...previewRoutes(parts),
    ...unsubscribeRoutes(parts),
    ...mailEventRoutes(parts),
  ]
  return [...routes, ...selfDescriptionRoutes(routes)]
}
