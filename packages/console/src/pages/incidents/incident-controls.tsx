import type { Incident } from '@backstop/client'
import { Button } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { isTyping } from '../../parts/is-typing.ts'
import { Problem } from '../../parts/problem.tsx'
import { IncidentRace } from './incident-race.tsx'
import { ResolveDialog } from './resolve-dialog.tsx'
import type { useIncidentChange } from './use-incident-change.ts'
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
  const [asked, setAsked] = useState<Asked>()
  const acknowledge = useCallback(() => void send({ change: { kind: 'acknowledge' }, version }), [send, version])
  const resolve = useCallback(() => setAsked({ version }), [version])
  useKeys(state === 'open' && !isPending ? acknowledge : undefined, state === 'resolved' ? undefined : resolve)
  return (
    <>
      {state === 'open' && (
        <Button onClick={acknowledge} loading={isPending && asked === undefined} title="a">
          Acknowledge
        </Button>
      )}
      {state !== 'resolved' && (
        <Button variant={state === 'open' ? 'default' : 'filled'} onClick={resolve} title="r">
          Resolve
        </Button>
      )}
      {state !== 'resolved' && incident.action_id !== null && (
        <Button variant="default" onClick={() => setAsked({ version, first: 'our_own_change' })}>
          This was us
        </Button>
      )}
      {state === 'resolved' && (
        <Button
          variant="default"
          loading={isPending}
          onClick={() => void send({ change: { kind: 'reopen' }, version })}
        >
          Open again
        </Button>
      )}
      {asked !== undefined && (
        <Resolve incident={incident} asked={asked} changes={changes} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

function Resolve({ incident, asked, changes, onClose }: Props & { asked: Asked; onClose: () => void }) {
  const { lost, error, isPending, send, forget } = changes
  const close = () => {
    forget()
    onClose()
  }
  const attempt = async (...[tried]: Parameters<typeof send>) => {
    if (await send(tried)) onClose()
  }
  return (
    <ResolveDialog
      title="Resolve the incident"
      {...(asked.first === undefined ? {} : { first: asked.first })}
      isBusy={isPending}
      problem={error !== null && <Problem error={error} what="The incident was not changed" />}
      race={
        lost?.kind === 'resolve' ? (
          <IncidentRace
            incident={incident}
            lost={lost}
            isBusy={isPending}
            onKeepTheirs={close}
            onApplyYours={() => void attempt({ change: lost, version: incident.version })}
          />
        ) : null
      }
      onClose={close}
      onResolve={resolution => void attempt({ change: { kind: 'resolve', resolution }, version: asked.version })}
    />
  )
}

function useKeys(acknowledge: (() => void) | undefined, resolve: (() => void) | undefined): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event)) return
      const act = { a: acknowledge, r: resolve }[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [acknowledge, resolve])
}
