import { describe, expect, it } from 'vitest'
import { all, timeline } from '../../mock/rollouts'
import type { RolloutChannel, Wave } from '../api'
import { barText, channelTitle, channelWord, conditionTone, outcomeWord, partsOf, planText } from './words'
import { rolloutWord, stepText, waveText, waveWord } from './words'

const first = (all[0]?.channels ?? [])[0] as RolloutChannel
const early = (first.waves ?? [])[1] as Wave

describe('a wave', () => {
  it('says in a sentence what its bar shows, and leaves out what there is none of', () => {
    expect(waveText(early)).toBe('early: 48 of 120 Kymas ready, 3 updating, 3 failed, 2 broken before, 3 skipped, 61 waiting')
    expect(waveText({ ...early, updating: 0, failed: 0, brokenBefore: 0, skipped: 0, waiting: 0, total: 1, ready: 1 })).toBe(
      'early: 1 of 1 Kyma ready',
    )
  })
  it('has parts that add up to all of its Kymas', () => {
    for (const wave of all.flatMap((r) => r.channels ?? []).flatMap((c) => c.waves ?? []))
      expect(partsOf(wave).reduce((n, part) => n + part.n, 0), wave.name).toBe(wave.total)
  })
  it('says what is planned for it', () => {
    expect(planText(early, 'ring=early')).toBe('Kymas with ring=early · 10% of them · 50 at a time · 1 failure allowed · soaks for 24h')
    const others = { ...early, name: 'others', share: '', maxConcurrent: 0, allowedFailures: 0, soak: '', approval: true }
    expect(planText(others, undefined)).toBe(
      'Kymas that no wave selects · all at once · none may fail · begins when a person approves it',
    )
    expect(planText({ ...early, share: '', soak: '' }, undefined)).toMatch(/^all Kymas that no wave before has · 50 at a time/)
  })
  it('is one of several', () => {
    expect(stepText(first)).toBe('wave 2 of 4: early')
    expect(stepText({ ...first, wave: undefined })).toBe('')
    expect(barText([])).toBe('No wave was counted yet')
    expect(barText(first.waves ?? [])).toContain('; rest: 0 of 1,071 Kymas ready')
  })
})

describe('words', () => {
  it('of a pause come before those of the phase', () => {
    expect(channelWord({ ...first, phase: 'Waiting', waitsFor: 'Resume' }).label).toBe('Paused')
    expect(channelWord(first).label).toBe('Halted')
  })
  it('that this page does not know are shown as they are', () => {
    expect([rolloutWord('Sleeping'), waveWord('toString'), rolloutWord(undefined)].map((word) => word.label)).toEqual([
      'Sleeping',
      'toString',
      'Unknown',
    ])
  })
  it.each([
    ['Halted', 'True', 'bad'],
    ['Halted', 'False', 'ok'],
    ['Armed', 'False', 'bad'],
    ['Armed', 'True', 'ok'],
    ['Progressing', 'True', 'busy'],
    ['Progressing', 'False', 'idle'],
    ['Completed', 'False', 'idle'],
    ['Completed', 'True', 'ok'],
    ['Armed', 'Unknown', 'idle'],
  ])('%s that is %s is %s', (type, status, tone) => {
    expect(conditionTone(type, status)).toBe(tone)
  })
  it('of a revision say how it ended', () => {
    expect(timeline.map((revision) => outcomeWord(revision).label)).toEqual(['Succeeded', 'Rolled back', 'Succeeded'])
    const [now] = timeline
    for (const [outcome, label] of [['Failed', 'Failed'], ['Superseded', 'Superseded'], [undefined, 'In progress']] as const)
      expect(now && outcomeWord({ ...now, outcome }).label).toBe(label)
  })
  it('of a mandatory module name no channel', () => {
    expect([channelTitle(''), channelTitle('fast')]).toEqual(['All Kymas', 'Channel fast'])
  })
})
