import { useQuery } from '@tanstack/react-query'
import { actorQuery } from '../../api/actors.ts'
import { ThingPage, useProjectId, useResourceId } from '../../parts/page/index.ts'
import { idFact, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { accountFact } from '../accounts/account-link.tsx'
import { ActionsOfPage, useActionsOf } from '../actions/actions-of.tsx'
import { ActorButtons, RoleBadge } from './actor-buttons.tsx'
import { providerWords } from './words.ts'

const ABOVE = ['actors', 'Actors'] as const

/** What one key, person or program made. */
export function Page() {
  const [project_id, actor_id] = [useProjectId(), useResourceId()]
  const { may } = useSession()
  const actions = useActionsOf({ actor_id })
  return (
    <ThingPage kind="Actor" above={ABOVE} query={useQuery(actorQuery(project_id, actor_id))}>
      {actor => (
        <ActionsOfPage
          kind="Actor"
          title={actor.name ?? providerWords(actor)}
          above={ABOVE}
          actions={actions}
          buttons={may('manage', project_id) && <ActorButtons actor={actor} />}
          facts={[
            ['Role', actor.role === 'unknown' ? null : <RoleBadge key="role" role={actor.role} />],
            ['Provider says', actor.name === null ? null : providerWords(actor)],
            ['Connected account', accountFact(actor.account)],
            ['First seen', timeFact(actor.first_at)],
            ['Last seen', timeFact(actor.last_at)],
            ['Id', idFact(actor_id)],
          ]}
        />
      )}
    </ThingPage>
  )
}
