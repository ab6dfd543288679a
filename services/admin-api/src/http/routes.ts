import type { AdminParts } from '../parts.ts'
import { actionRoutes } from './actions.ts'
import { alertChannelRoutes } from './alert-channels.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { approvalRoutes } from './approvals.ts'
import { auditRoutes } from './audit.ts'
import { budgetRoutes } from './budgets.ts'
import { connectionRoutes } from './connections.ts'
import { deadLetterRoutes } from './dead-letters.ts'
import { deliveryRoutes } from './deliveries.ts'
import { expectedChangeRoutes } from './expected-changes.ts'
import { inboxRoutes } from './inbox.ts'
import { incidentRoutes } from './incidents.ts'
import { mailEventRoutes } from './mail-events.ts'
import { operationRoutes } from './operations.ts'
import { previewRoutes } from './previews.ts'
import { projectRoutes } from './projects.ts'
import { replayRoutes } from './replays.ts'
import type { Route } from './route.ts'
import { runRoutes } from './runs.ts'
import { selfDescriptionRoutes } from './self-description.ts'
import { suppressionRoutes } from './suppressions.ts'
import { unsubscribeRoutes } from './unsubscribe.ts'

/** Every route there is. What is not in here is not served, and what is in here is in the OpenAPI document. */
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
    ...actionRoutes(parts),
    ...expectedChangeRoutes(parts),
    ...inboxRoutes(parts),
    ...apiKeyRoutes(parts),
    ...auditRoutes(parts),
    ...previewRoutes(parts),
    ...unsubscribeRoutes(parts),
    ...mailEventRoutes(parts),
  ]
  return [...routes, ...selfDescriptionRoutes(routes)]
}
