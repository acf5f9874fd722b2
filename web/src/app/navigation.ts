// The pages of the menu.
import { ArrowUpCircle, Boxes, Cog, Gauge, Grid3x3, Layers, ListChecks, PackagePlus, Rocket, Rss, Store, Waves } from 'lucide-react'
import { messages } from '../messages'

/** groups are the pages as the menu has them: address, name and picture. */
export const groups = [
  {
    name: messages.navigation.watch,
    links: [
      ['/', messages.common.overview, Gauge],
      ['/kymas', messages.common.kymas, Layers],
      ['/modules', messages.common.modules, Boxes],
      ['/fleet', messages.common.fleet, Grid3x3],
    ],
  },
  {
    name: messages.common.change,
    links: [
      ['/catalog', messages.common.catalog, Store],
      ['/add', messages.common.addModules, PackagePlus],
      ['/upgrade', messages.common.upgrade, ArrowUpCircle],
    ],
  },
  {
    name: messages.navigation.run,
    links: [
      ['/operations', messages.common.operations, ListChecks],
      ['/releases', messages.common.releases, Rocket],
      ['/rollouts', messages.common.rollouts, Waves],
      ['/sources', messages.common.sources, Rss],
      ['/settings', messages.common.settings, Cog],
    ],
  },
] as const
