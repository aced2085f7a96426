"""Where to find each of the paper's data sets.

None of these addresses could be tried when this table was made: there was no network. They were taken from public code
that uses them, as noted below; a wrong one is detected by the checks of :mod:`codt.data.remote`. UCI's archives of
``page`` (compressed by ``compress``) and ``concrete`` (an old Excel file) need readers of their own, so these two come
from OpenML alone.
"""

from __future__ import annotations

from codt.data.remote.openml import OpenML
from codt.data.remote.uci import UCI

Source = UCI | OpenML

# The OpenML numbers appear with these names in the configurations of a benchmark: 30 and 1120 in the repository
# Neuralk-AI/TabBench, folder src/tabbench/datasets/openml, the others in files of the same kind (OpenMLDataConfig).
# Left out because they are not there: wilt, news. Left out because the available copies were rounded: segment (36).
#
# The UCI archives, and the names of files in them, are taken from public scripts that download them: several for each,
# except where marked "one script".
SOURCES: dict[str, tuple[Source, ...]] = {
    "avila": (UCI("static/public/459/avila.zip", ("avila-tr.txt", "avila-ts.txt")),),
    "bank": (
        UCI("static/public/267/banknote+authentication.zip", ("data_banknote_authentication.txt",)),
        OpenML(1462),  # banknote-authentication
    ),
    "bean": (UCI("static/public/602/dry+bean+dataset.zip", ("Dry_Bean_Dataset.arff",)),),
    "bidding": (
        UCI(  # the archive: one script
            "static/public/562/shill+bidding+dataset.zip",
            ("Shill Bidding Dataset.csv",),
            target="Class",
            without=("Record_ID", "Auction_ID", "Bidder_ID"),
        ),
    ),
    "eeg": (
        UCI("static/public/264/eeg+eye+state.zip", ("EEG Eye State.arff",)),
        OpenML(1471),  # eeg-eye-state
    ),
    "fault": (
        UCI("static/public/198/steel+plates+faults.zip", ("Faults.NNA",), separator="\t", one_hot=7),
        OpenML(40982),  # steel-plates-fault
    ),
    "htru": (UCI("static/public/372/htru2.zip", ("HTRU_2.csv",)),),
    "magic": (
        UCI("static/public/159/magic+gamma+telescope.zip", ("magic04.data",)),
        OpenML(1120),  # MagicTelescope
    ),
    "occupancy": (
        UCI(
            "static/public/357/occupancy+detection.zip",
            ("datatraining.txt", "datatest.txt", "datatest2.txt"),
            target="Occupancy",
            without=("date",),
        ),
    ),
    "page": (OpenML(30),),  # page-blocks
    "raisin": (UCI("static/public/850/raisin.zip", ("Raisin_Dataset.arff",)),),
    "rice": (UCI("static/public/545/rice+cammeo+and+osmancik.zip", ("Rice_Cammeo_Osmancik.arff",)),),
    "room": (
        UCI(
            "static/public/864/room+occupancy+estimation.zip",
            ("Occupancy_Estimation.csv",),
            target="Room_Occupancy_Count",
            without=("Date", "Time"),
        ),
    ),
    "segment": (UCI("static/public/50/image+segmentation.zip", ("segmentation.data", "segmentation.test"), target=0),),
    "skin": (UCI("static/public/229/skin+segmentation.zip", ("Skin_NonSkin.txt",), separator="\t"),),
    "wilt": (UCI("static/public/285/wilt.zip", ("training.csv", "testing.csv"), target="class"),),
    "casp": (
        UCI(
            "static/public/265/physicochemical+properties+of+protein+tertiary+structure.zip",
            ("CASP.csv",),
            target="RMSD",
        ),
        OpenML(44963),  # physiochemical_protein
    ),
    "concrete": (OpenML(44959),),  # concrete_compressive_strength
    "energy": (
        UCI(
            "static/public/374/appliances+energy+prediction.zip",
            ("energydata_complete.csv",),
            target="Appliances",
            clock="date",  # the paper does not say so; its table of counts does
        ),
    ),
    "fish": (
        UCI("static/public/504/qsar+fish+toxicity.zip", ("qsar_fish_toxicity.csv",), separator=";"),  # one script
        OpenML(44970),  # QSAR_fish_toxicity
    ),
    "gas": (
        UCI(
            "static/public/551/gas+turbine+co+and+nox+emission+data+set.zip",
            tuple(f"gt_{year}.csv" for year in range(2011, 2016)),
            target="TEY",
        ),
    ),
    "grid": (
        UCI(
            "static/public/471/electrical+grid+stability+simulated+data.zip",
            ("Data_for_UCI_named.csv",),
            target="stab",
            without=("stabf",),
        ),
        OpenML(44973),  # grid_stability
    ),
    "news": (
        UCI(
            "static/public/332/online+news+popularity.zip",
            ("OnlineNewsPopularity.csv",),
            target="shares",
            without=("url",),
        ),
    ),
    "qsar": (UCI("static/public/505/qsar+aquatic+toxicity.zip", ("qsar_aquatic_toxicity.csv",), separator=";"),),
    "query1": (
        UCI("ml/machine-learning-databases/00493/datasets.zip", ("Radius-Queries-Count.csv",)),  # one script
    ),
}
