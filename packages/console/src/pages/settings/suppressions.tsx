import type { Suppression } from '@backstop/client'
import { Button, TextInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { suppressionList } from '../../api/channels.ts'
import { api, refresh, useWrite } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { ConfirmButton, handleSubmit } from '../../parts/form/index.ts'
import { type Column, DataList, textColumn, timeColumn } from '../../parts/list/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './settings.module.css'

const REASONS: Record<Suppression['reason'], string> = {
  unsubscribed: 'Unsubscribed',
  hard_bounce: 'Does not exist',
  soft_bounces: 'Bounced five times in a week',
  complaint: 'Reported as spam',
  manual: 'Added by hand',
}

/** Addresses that get no mail of the project. */
export function Suppressions({ projectId }: { projectId: string }) {
  const mayChange = useSession().may('manage', projectId)
  const list = useList(suppressionList, { project_id: projectId })
  return (
    <section aria-label="Suppressed addresses">
      <div className={classes.inset}>
        <h2>Suppressed addresses</h2>
        <p className="dim">These addresses get no mail of this project, whichever channel names them.</p>
        {mayChange && <NewSuppression projectId={projectId} />}
      </div>
      <DataList
        label="Suppressed addresses"
        list={list}
        columns={mayChange ? [...COLUMNS, removeColumn(projectId)] : COLUMNS}
        empty="No address is suppressed. Addresses that unsubscribe, bounce or complain appear here."
      />
    </section>
  )
}

const COLUMNS: readonly Column<Suppression>[] = [
  textColumn('Address', 'minmax(0, 1fr)', ({ address }) => address, { card: 'title' }),
  {
    title: 'Why',
    width: 'minmax(0, 1fr)',
    card: 'line',
    cell: ({ reason, detail }) => (
      <span className="dim" dir="auto" title={detail ?? undefined}>
        {REASONS[reason]}
        {detail === null ? '' : `: ${detail}`}
      </span>
    ),
  },
  timeColumn('Since', '112px', ({ suppressed_at }) => suppressed_at),
]

function removeColumn(project_id: string): Column<Suppression> {
  const remove = async (address: string) => {
    await api.suppressions.delete(address, { project_id })
    await refresh('suppressions')
  }
  return {
    title: '',
    width: '96px',
    align: 'end',
    card: 'line',
    cell: ({ address, reason }) => (
      <ConfirmButton
        question={`Send mail to ${address} again?`}
        consequence={
          reason === 'manual'
            ? 'Channels that name the address send to it again.'
            : `It was suppressed for a reason: ${REASONS[reason].toLowerCase()}. Mail to people who do not want it harms the delivery of all mail.`
        }
        onConfirm={() => remove(address)}
      >
        Remove
      </ConfirmButton>
    ),
  }
}

function NewSuppression({ projectId }: { projectId: string }) {
  const [address, setAddress] = useInputState('')
  const add = useWrite(() => api.suppressions.create({ project_id: projectId, address: address.trim() }), {
    refresh: ['suppressions'],
    onDone: () => setAddress(''),
  })
  return (
    <form className={classes.inline} onSubmit={handleSubmit(() => add.mutate())}>
      <TextInput
        aria-label="Address"
        type="email"
        placeholder="person@example.com"
        value={address}
        onChange={setAddress}
      />
      <Button type="submit" size="sm" variant="default" disabled={address.trim() === ''} loading={add.isPending}>
        Suppress
      </Button>
      <Problem error={add.error} what="The address was not suppressed" />
    </form>
  )
}
