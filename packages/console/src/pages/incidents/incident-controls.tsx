import type { Incident } from '@backstop/client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useAsked, useKeys } from '../../parts/page/index.ts'
import { useOpenAsked } from './asked-dialog.tsx'
import { IncidentRace } from './incident-race.tsx'
import { ResolveDialog } from './resolve-dialog.tsx'
import type { Attempt, useIncidentChange } from './use-incident-change.ts'
import type { Resolution } from './words.ts'

interface Props {
  incident: Incident
  changes: ReturnType<typeof useIncidentChange>
}

/** An open dialog that resolves. */
interface Asked {
  /** The version that the person saw when the dialog opened. */
  readonly version: number
  /** The reason that is chosen already. */
  readonly first?: Resolution['reason']
}

/** The buttons of an incident: the primary one follows from its state. `a` acknowledges, `r` resolves. */
export function IncidentControls({ incident, changes }: Props) {
  const { state, version } = incident
  const { isPending, send } = changes
  const [chosen, setAsked] = useState<Asked>()
  // A link of a message may ask for it. The person saw the version with which the page opened.
  const [firstVersion] = useState(version)
  const { forget } = useAsked()
  const isLinked = useOpenAsked(incident) === 'ours'
  const asked: Asked | undefined = isLinked ? { version: firstVersion, first: 'our_own_change' } : chosen
  const close = () => {
    setAsked(undefined)
    if (isLinked) forget()
  }
  const acknowledge = () => void send({ change: { kind: 'acknowledge' }, version })
  const resolve = () => setAsked({ version })
  useKeys({
    a: state === 'open' && !isPending ? acknowledge : undefined,
    r: state === 'resolved' ? undefined : resolve,
  })
  if (state === 'resolved') {
    return (
      <Button variant="default" loading={isPending} onClick={() => void send({ change: { kind: 'reopen' }, version })}>
        Open again
      </Button>
    )
  }
  return (
    <>
      {state === 'open' && (
        <Button onClick={acknowledge} loading={isPending && asked === undefined} title="a">
          Acknowledge
        </Button>
      )}
      <Button variant={state === 'open' ? 'default' : 'filled'} onClick={resolve} title="r">
        Resolve
      </Button>
      {incident.action_id !== null && (
        <Button variant="default" onClick={() => setAsked({ version, first: 'our_own_change' })}>
          This was us
        </Button>
      )}
      {asked !== undefined && <Resolve incident={incident} asked={asked} changes={changes} onClose={close} />}
    </>
  )
}

function Resolve({ incident, asked, changes, onClose }: Props & { asked: Asked; onClose: () => void }) {
  const { lost, isPending, send, forget } = changes
  const close = () => {
    forget()
    onClose()
  }
  const attempt = async (tried: Attempt) => {
    if (await send(tried)) onClose()
  }
  const race =
    lost?.kind === 'resolve' ? (
      <IncidentRace
        incident={incident}
        lost={lost}
        isBusy={isPending}
        onKeepTheirs={close}
        onApplyYours={() => void attempt({ change: lost, version: incident.version })}
      />
    ) : null
  return (
    <ResolveDialog
      title="Resolve the incident"
      first={asked.first}
      write={changes}
      failed="The incident was not changed"
      race={race}
      onClose={close}
      onResolve={resolution => void attempt({ change: { kind: 'resolve', resolution }, version: asked.version })}
    />
  )
}
