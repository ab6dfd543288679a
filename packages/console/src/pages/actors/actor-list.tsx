import type { ShownActor } from '@backstop/client'
import { actorList } from '../../api/actors.ts'
import { useList } from '../../api/list.ts'
import { choice, defineFilters, useListFilters } from '../../parts/filters/index.ts'
import { DialogButton } from '../../parts/form/index.ts'
import { type Column, ListPage, textColumn, timeColumn, useReadAgain } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { moneyText } from '../storms/storm-list.tsx'
import { ActorButtons, RoleBadge } from './actor-buttons.tsx'
import { NewActor } from './actor-forms.tsx'
import { KINDS, providerWords, ROLES } from './words.ts'

const FILTERS = defineFilters(choice('kind', 'Kind', KINDS), choice('role', 'Role', ROLES))

export function Page() {
  const project_id = useProjectId()
  const mayChange = useSession().may('manage', project_id)
  const filters = useListFilters(FILTERS)
  useReadAgain('actors')
  return (
    <ListPage
      title="Actors"
      about="Who made refunds and cancellations, as far as the providers say it. Names appear in alerts. Each action of a canary alerts at once."
      actions={
        mayChange && (
          <DialogButton label="Declare software" title="Declare software by its idempotency keys">
            {close => <NewActor onDone={close} />}
          </DialogButton>
        )
      }
      filters={filters}
      list={useList(actorList, { project_id, ...filters.values })}
      columns={mayChange ? [...COLUMNS, CHANGES] : COLUMNS}
      nothingFits="No actor fits these filters."
      empty="No provider has named anybody yet. The subscription biller names API keys and users; the card processor may name them in thin events."
      next={<ProjectLink page="connections">See whether the connections receive events</ProjectLink>}
    />
  )
}

const COLUMNS: readonly Column<ShownActor>[] = [
  {
    title: 'Actor',
    width: 'minmax(0, 1.2fr)',
    card: 'title',
    cell: ({ actor_id, name, ...actor }) => (
      <ProjectLink page="actors" id={actor_id}>
        <bdi>{name ?? providerWords(actor)}</bdi>
      </ProjectLink>
    ),
  },
  {
    title: 'Role',
    width: '112px',
    card: 'line',
    cell: ({ role }) => <RoleBadge role={role} />,
  },
  textColumn('Provider says', 'minmax(0, 1fr)', actor => (actor.name === null ? null : providerWords(actor)), {
    tone: 'dim',
    card: 'line',
  }),
  textColumn('Actions', '72px', ({ actions }) => actions.toLocaleString('en'), { align: 'end' }),
  textColumn('Money', '120px', moneyOf, { tone: 'dim', align: 'end', card: 'line' }),
  timeColumn('Last seen', '112px', ({ last_at }) => last_at, { isOnCard: false }),
]

function moneyOf({ totals }: ShownActor): string {
  return moneyText({
    money: totals.flatMap(total =>
      total.amount > 0 && total.currency !== null ? [{ ...total, currency: total.currency }] : [],
    ),
  })
}

const CHANGES: Column<ShownActor> = {
  title: '',
  width: '176px',
  align: 'end',
  card: 'end',
  cell: actor => <ActorButtons actor={actor} />,
}
