import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { refresh, useWrite } from '../../api/client.ts'
import { connectionQuery } from '../../api/connections.ts'
import type { Storm } from '../../api/incidents.ts'
import { isLostRace, LostRace } from '../../parts/form/index.ts'
import { Problem, useAsked, useKeys } from '../../parts/page/index.ts'
import { AskedDialog, useOpenAsked } from '../incidents/asked-dialog.tsx'
import { StateSentence } from '../incidents/incident-race.tsx'
import { ResolveDialog } from '../incidents/resolve-dialog.tsx'
import { type Change, sendChange } from '../incidents/use-incident-change.ts'
import type { Resolution } from '../incidents/words.ts'
import { SilenceDialog } from '../silences/silence-dialog.tsx'
import { sizeText } from './storm-list.tsx'
import { membersQuery } from './storm-members.ts'

/** Acknowledges and resolves all incidents of a storm as one. If the reader may do so, `a` acknowledges and `r` resolves. */
export function useStormControls(storm: Storm, canWrite: boolean) {
  const { storm_id, state } = storm
  const [chosen, setFirst] = useState<Resolution['reason'] | 'none'>()
  const { forget } = useAsked()
  const isLinked = useOpenAsked(storm) === 'ours'
  const readAgain = () => refresh('storms', 'incidents', 'actions')
  const leave = () => {
    setFirst(undefined)
    if (isLinked) forget()
  }
  const change = useWrite((wanted: Change) => sendChange(storm_id, { change: wanted }), {
    onDone() {
      leave()
      return readAgain()
    },
    onError: readAgain,
  })
  const canChange = canWrite && state !== 'resolved'
  useKeys({
    a: canChange && state === 'open' && !change.isPending ? () => change.mutate({ kind: 'acknowledge' }) : undefined,
    r: canChange ? () => setFirst('none') : undefined,
  })
  const close = () => {
    change.reset()
    leave()
  }
  return { change, first: isLinked ? ('our_own_change' as const) : chosen, setFirst, close }
}

type Controls = ReturnType<typeof useStormControls>

export function StormButtons({ storm: { state }, controls }: { storm: Storm; controls: Controls }) {
  const { change, setFirst } = controls
  if (state === 'resolved') {
    return (
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ kind: 'reopen' })}>
        Open again
      </Button>
    )
  }
  return (
    <>
      {state === 'open' && (
        <Button title="a" loading={change.isPending} onClick={() => change.mutate({ kind: 'acknowledge' })}>
          Acknowledge all
        </Button>
      )}
      <Button title="r" variant={state === 'open' ? 'default' : 'filled'} onClick={() => setFirst('none')}>
        Resolve all
      </Button>
      <Button variant="default" onClick={() => setFirst('our_own_change')}>
        This was us
      </Button>
    </>
  )
}

const FAILED = 'The storm was not changed'

/** What a link of a message asks for: to acknowledge the storm, or to silence its connection. */
export function StormAsked({ storm, controls: { change } }: { storm: Storm; controls: Controls }) {
  const { forget } = useAsked()
  const members = useQuery(membersQuery(storm)).data
  // A storm does not say who brought it into its state, and its newest incident does.
  const newest = members?.find(({ incident }) => incident.state === storm.state)?.incident
  const isSilence = useOpenAsked(storm) === 'silence'
  const { data } = useQuery({ ...connectionQuery(storm.project_id, storm.connection_id), enabled: isSilence })
  if (isSilence)
    return data === undefined ? null : <SilenceDialog connection={data} reason={sizeText(storm)} onClose={forget} />
  return (
    <AskedDialog
      of={storm}
      stateSentence={newest === undefined ? `The storm is ${storm.state}.` : <StateSentence incident={newest} />}
      write={change}
      onAcknowledge={() => change.mutateAsync({ kind: 'acknowledge' }).catch(() => {})}
    />
  )
}

export function StormDialogs({ storm, controls }: { storm: Storm; controls: Controls }) {
  const { change, first, close } = controls
  const { isPending, variables } = change
  const left = storm.incidents.open + storm.incidents.acknowledged
  const isLost = isLostRace(change.error)
  const error = isLost ? null : change.error
  const race =
    change.error !== null && isLost ? (
      <LostRace
        theirs={change.error.message}
        yours={variables?.kind === 'resolve' ? 'Resolve all incidents' : 'Change all incidents'}
        onKeepTheirs={close}
      />
    ) : null
  if (first !== undefined) {
    return (
      <ResolveDialog
        title={`Resolve ${left} ${left === 1 ? 'incident' : 'incidents'}`}
        write={{ isPending, error }}
        failed={FAILED}
        race={race}
        first={first === 'none' ? undefined : first}
        onClose={close}
        onResolve={resolution => change.mutate({ kind: 'resolve', resolution })}
      />
    )
  }
  if (race === null && error === null) return null
  return <div className="body">{race ?? <Problem error={error} what={FAILED} />}</div>
}
